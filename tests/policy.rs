//! On what terms a rule has its resources held: real runs under rules that only tests set. The programs are scripts, one
//! of them a stand-in for `gh` (the real one needs GitHub).

mod follows;
mod holds;
mod kept;
mod stage;
mod times;
