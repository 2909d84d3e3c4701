"""Files: written atomically, downloaded, unpacked."""
