//! `tls`: the way to the server, protected as the connection string says.
//!
//! It promises what `sslmode` promises libpq's users: `disable`, `allow`, `prefer` and `require` protect from nobody who
//! can change what is sent; with a root certificate at hand (`sslrootcert`, or `~/.postgresql/root.crt`) the certificate's
//! chain is verified in every mode; `verify-ca` insists on it, `verify-full` also on the host's name. Two things are
//! stricter than libpq: a file that the string names must be there, and so must the revocations. Unix sockets know no
//! TLS. Roots, certificates and keys are read when TLS is used and not before.
//!
//! [`connect`] tries endpoints in their order, each under a deadline, and says of each why it did not serve.
#![forbid(unsafe_code)]

mod certificate;
mod connect;
mod connector;
mod error;
mod fault;
mod files;
mod identity;
mod roots;
pub(super) mod target;
mod verifier;

pub use connect::{Link, connect};
pub(super) use connect::{Next, judge, ways};
pub use connector::{Connector, Stream};
pub use error::{ConnectError, TlsError, Unconnected};
pub use fault::TlsFault;
pub(super) use fault::finds_no_room;
