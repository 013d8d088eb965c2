//! All of a tree, each node once: for measuring it and for finding what it defines.
#![forbid(unsafe_code)]

use super::tree::{Body, Command, List, Operation, Piece, Raw, Target};

/// What a visitor is shown.
pub(crate) enum Node<'a> {
    Command(&'a Command),
    Piece(&'a Piece),
}

/// Shows every command and every piece of a word to `see`.
pub(crate) fn visit(list: &List, see: &mut dyn FnMut(Node<'_>)) {
    for item in &list.0 {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline));
        pipelines.flat_map(|pipeline| &pipeline.commands).for_each(|command| visit_command(command, see));
    }
}

/// The same for one command.
pub(crate) fn visit_command(command: &Command, see: &mut dyn FnMut(Node<'_>)) {
    see(Node::Command(command));
    for redirect in &command.redirections {
        match &redirect.target {
            Target::Word(word) => visit_word(word, see),
            Target::Here(text) => text.get().into_iter().for_each(|text| visit_word(text, see)),
        }
    }
    match &command.body {
        Body::Simple { assignments, words } => {
            assignments.iter().for_each(|assign| visit_word(&assign.value, see));
            words.iter().for_each(|word| visit_word(word, see));
        }
        Body::Subshell(list) | Body::Group(list) => visit(list, see),
        Body::If { arms, otherwise } => {
            arms.iter().flat_map(|(condition, body)| [condition, body]).for_each(|list| visit(list, see));
            visit(otherwise, see);
        }
        Body::While { condition, body, .. } => [condition, body].into_iter().for_each(|list| visit(list, see)),
        Body::For { words, body, .. } => {
            words.iter().for_each(|word| visit_word(word, see));
            visit(body, see);
        }
        Body::Case { subject, arms } => {
            visit_word(subject, see);
            for arm in arms {
                arm.patterns.iter().for_each(|word| visit_word(word, see));
                visit(&arm.body, see);
            }
        }
        Body::Function { name, body } => {
            visit_word(name, see);
            visit_command(body, see);
        }
        Body::Test(words) => words.iter().for_each(|word| visit_word(word, see)),
        Body::Coprocess(command) => visit_command(command, see),
    }
}

fn visit_word(word: &Raw, see: &mut dyn FnMut(Node<'_>)) {
    for piece in word {
        see(Node::Piece(piece));
        match piece {
            Piece::Text { .. } | Piece::Special(_) | Piece::Home(_) | Piece::Opaque => {}
            Piece::Pattern(inner) | Piece::Braces(inner) | Piece::Arithmetic(inner) => visit_word(inner, see),
            Piece::Substitution { list, .. } | Piece::Process { list, .. } => visit(list, see),
            Piece::Array(words) => words.iter().for_each(|word| visit_word(word, see)),
            Piece::Parameter(parameter) => match &parameter.operation {
                Operation::Plain | Operation::All { .. } => {}
                Operation::Otherwise { word, .. } | Operation::Strip { word, .. } | Operation::Other(word) => {
                    visit_word(word, see);
                }
            },
        }
    }
}
