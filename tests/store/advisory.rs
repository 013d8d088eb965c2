//! The advisory store on a real PostgreSQL: exclusion with others and with other clients, the life of its session, what it
//! refuses, and what it does when nobody answers.

mod alone;
mod asked;
mod bad;
mod holding;
mod lab;
mod program;
mod refused;
mod through;
