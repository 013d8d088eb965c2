//! On what terms a rule has its resources held: real runs under rules that only tests set. The programs are scripts, one
//! of them a stand-in for `gh` (the real one needs GitHub).

mod explained;
mod follows;
mod gives_back;
mod holds;
mod kept;
mod proofs;
mod stage;
mod times;
