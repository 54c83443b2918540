"""Files that must not be lost or half written: replacing, appending, locking, careful reading.

**When data is synced to the disk** (`fsync`), for the whole program:

* `write_atomic(..., durable=True)` syncs before the rename. It is for what can't be made again:
  the user's own files, settings, keys, a conversation written anew. Without it a power cut right
  after the rename may leave an empty file.
* All else is not synced. A replaced file is old or new for every other program, and an appended
  line survives the death of the process the moment `append` returns; only a power cut can take
  the last seconds. Syncing each row would cost more than everything else a row costs.
"""

from amplifier_tui.base.files.appending import AppendFile, append
from amplifier_tui.base.files.locking import FileLock, FileLockedError, locked
from amplifier_tui.base.files.reading import (
    MOST_BYTES,
    FileTooLargeError,
    NotRegularFileError,
    changed_at,
    open_regular,
    open_resolved,
    read_regular,
    require_regular,
)
from amplifier_tui.base.files.replacing import (
    free_name,
    move_aside,
    replacing,
    write_atomic,
    write_link,
)
from amplifier_tui.base.files.together import write_together

__all__ = [
    "MOST_BYTES",
    "AppendFile",
    "FileLock",
    "FileLockedError",
    "FileTooLargeError",
    "NotRegularFileError",
    "append",
    "changed_at",
    "free_name",
    "locked",
    "move_aside",
    "open_regular",
    "open_resolved",
    "read_regular",
    "replacing",
    "require_regular",
    "write_atomic",
    "write_link",
    "write_together",
]
