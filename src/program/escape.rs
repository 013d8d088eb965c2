//! Programs whose effect we cannot stop by stopping our child.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::platform;

use super::Program;

/// They start a command as another user, whom we may not signal.
const LAUNCHERS: [&str; 6] = ["sudo", "doas", "su", "pkexec", "gsudo", "runas"];

/// They have the work done elsewhere: on another host, by an engine, by a service. It goes on when they are stopped.
const REMOTE: [&str; 9] = ["ssh", "scp", "sftp", "rsync", "docker", "docker-compose", "podman", "gh", "wsl"];

/// The bits of a file that runs with another identity than its caller's (`S_ISUID`, `S_ISGID`; inode(7)).
const OTHER_IDENTITY: u32 = 0o6000;

impl Program {
    /// Whether what it starts may outlive us: it is done elsewhere, or it becomes another user, so that our signals do not reach it, and the
    /// kernel takes away the signal that would end it with its keeper (`PR_SET_PDEATHSIG` is cleared when a setuid or
    /// setgid file is executed; prctl(2)).
    #[must_use]
    pub fn escapes(&self, cwd: &Path) -> bool {
        let named = LAUNCHERS.iter().chain(&REMOTE).any(|name| self.name == *name);
        named || std::fs::metadata(cwd.join(&self.path)).is_ok_and(|file| platform::mode(&file) & OTHER_IDENTITY != 0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn launchers_clients_and_files_of_another_identity_escape() {
        let directory = tempfile::tempdir().expect("directory");
        for (name, mode, escapes) in [
            ("sudo", 0o755, true),
            ("doas", 0o755, true),
            ("su", 0o755, true),
            ("pkexec", 0o755, true),
            ("gsudo", 0o755, true),
            ("runas", 0o755, true),
            ("ssh", 0o755, true),
            ("docker", 0o755, true),
            ("gh", 0o755, true),
            ("wsl", 0o755, true),
            ("sops", 0o755, false),
            ("sudoku", 0o755, false),
            ("setuid", 0o4755, true),
            ("setgid", 0o2755, true),
        ] {
            let path = directory.path().join(name);
            fs::write(&path, "").expect("file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
            for path in [path, name.into()] {
                let program = Program { path, name: name.into(), skipped: Vec::new() };
                assert_eq!(program.escapes(directory.path()), escapes, "{name}");
            }
        }
    }
}
