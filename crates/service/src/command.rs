//! What the program does instead of serving.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use thiserror::Error;

use crate::accounts::{AccountError, Accounts};
use crate::config::{AccountCommand, Command};
use crate::model_file;

#[derive(Debug, Error)]
enum CommandError {
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error("{0}")]
    Write(#[from] io::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// Does it; what it answers goes to standard output.
pub fn run(command: &Command, data: &Path) -> ExitCode {
    let done = match command {
        Command::ModelsSchema => models_schema(),
        Command::Account { change } => account(change, &Accounts::of(data)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atelier-service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn models_schema() -> Result<(), CommandError> {
    let schema = serde_json::to_string_pretty(&model_file::json_schema())?;
    Ok(writeln!(io::stdout(), "{schema}")?)
}

fn account(change: &AccountCommand, accounts: &Accounts) -> Result<(), CommandError> {
    let mut out = io::stdout();
    match change {
        AccountCommand::Add { name } => writeln!(out, "{}", accounts.add(name)?)?,
        AccountCommand::Rotate { name } => writeln!(out, "{}", accounts.rotate(name)?)?,
        AccountCommand::Remove { name } => accounts.remove(name)?,
        // Without one, the list makes none.
        AccountCommand::List if !accounts.are_there() => {}
        AccountCommand::List => {
            for account in accounts.list()? {
                writeln!(out, "{}\t{}", account.name, account.created)?;
            }
        }
    }
    Ok(())
}
