//! Several machines on one server over TLS: network namespaces of their own, with wires that can be cut. They need root,
//! and say so aloud where they cannot be had.

mod session;
mod shared;
pub(crate) mod wire;
