from tests.host.conftest import drive, driver, project

__all__ = ["drive", "driver", "project"]
