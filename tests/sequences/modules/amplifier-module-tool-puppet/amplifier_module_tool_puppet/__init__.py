from tests.sequences.puppet import mount_tool

mount = mount_tool

__amplifier_module_type__ = "tool"
