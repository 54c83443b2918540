from tests.sequences.puppet import mount_provider

mount = mount_provider

__amplifier_module_type__ = "provider"
