"""The parts of the protocol between a front end and its sessions, by topic; see `host.client`."""
