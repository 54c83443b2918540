"""Files and folders as they were judged: no link that was put in their place since is followed."""
