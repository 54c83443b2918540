"""Images in cells: two pixels a cell, one above the other, in any terminal with 256 colours."""
