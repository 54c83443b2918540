"""The inspector of one event."""
