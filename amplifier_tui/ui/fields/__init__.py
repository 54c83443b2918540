"""What text is written in: a line and an area, as Textual's but mended."""
