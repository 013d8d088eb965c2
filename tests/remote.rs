//! What acts elsewhere: on another machine through the real ssh and a real sshd, at an engine that the test plays, at
//! GitHub by a stand-in for gh. And four zones that two processes want at once.

mod archives;
mod copies;
mod crowd;
mod engine;
mod gh;
mod host;
mod killed;
mod names;
mod taker;
mod writes;
mod zones;
