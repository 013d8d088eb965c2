//! What a person should know about a connection string that works.
#![forbid(unsafe_code)]

use std::path::PathBuf;

/// Something was left aside. Shown on demand; nothing here is a value of the string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    /// A word of another program.
    #[error("`{0}` of the connection string is another program's; it was dropped")]
    Foreign(&'static str),
    /// A parameter of libpq that changes nothing here.
    #[error("`{0}` of the connection means nothing to locked")]
    Idle(&'static str),
    /// Others may read the password file.
    #[error("{path} was ignored: its mode is {mode:04o}, so that others can read it; next: chmod 600 {path}", path = crate::terms::shell_quote(path.as_os_str().as_encoded_bytes()))]
    PassfileIsOpen {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The password file is a directory, a pipe…
    #[error("{} was ignored: it is no plain file", .0.display())]
    PassfileIsNoFile(PathBuf),
    /// The password file cannot be read.
    #[error("{} was ignored: it cannot be read", .0.display())]
    PassfileUnreadable(PathBuf),
    /// It has an `@` where there rarely is one.
    #[error("the connection string may have a raw @ or / in its password; write them %40 and %2F")]
    Doubtful,
}
