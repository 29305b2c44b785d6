//! The commands of the program other than serving and working.

use std::io::{self, Write};
use std::process::ExitCode;

use thiserror::Error;

use crate::accounts::{AccountError, Accounts};
use crate::backend;
use crate::config::{AccountCommand, Command, Config};
use crate::doctor::{self, Level};
use crate::model_file;
use crate::start_error::StartError;
use crate::webhooks::secret::{self, SecretError};

#[derive(Debug, Error)]
enum CommandError {
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error("{0}")]
    Write(#[from] io::Error),
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("{0}")]
    Secret(#[from] SecretError),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// Runs a command, which prints its result to standard output.
pub fn run(command: &Command, config: &Config) -> ExitCode {
    let done = match command {
        // These are the program's main work.
        Command::Serve(_) | Command::Work(_) => return ExitCode::FAILURE,
        Command::ModelsSchema => models_schema(),
        Command::Doctor(config) => return doctor(config),
        Command::WebhookSecret => webhook_secret(config),
        Command::Account { change } => accounts(change, config)
            .map_err(CommandError::from)
            .and_then(|accounts| account(change, &accounts)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atelier-service: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line for each part; fails if the service would not start.
fn doctor(config: &Config) -> ExitCode {
    let found = doctor::examine(config);
    let mut out = io::stdout();
    for finding in &found {
        // Write errors don't change the result.
        let _ = writeln!(out, "{finding}");
    }
    match found.iter().any(|finding| finding.level == Level::Error) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn models_schema() -> Result<(), CommandError> {
    let schema = serde_json::to_string_pretty(&model_file::json_schema())?;
    Ok(writeln!(io::stdout(), "{schema}")?)
}

/// Prints the secrets that webhooks are signed with, one per line.
fn webhook_secret(config: &Config) -> Result<(), CommandError> {
    let secrets = match config.webhook_secrets() {
        Some(given) => given.to_owned(),
        None => backend::webhook_secret(config)?,
    };
    secret::parse_all(&secrets)?;
    for secret in secrets.split(',') {
        writeln!(io::stdout(), "{}", secret.trim())?;
    }
    Ok(())
}

/// Opens the accounts. Only `add` creates their store, because from then on clients need an account.
fn accounts(change: &AccountCommand, config: &Config) -> Result<Accounts, AccountError> {
    match change {
        AccountCommand::Add { .. } => backend::open_accounts(config),
        AccountCommand::List | AccountCommand::Remove { .. } | AccountCommand::Rotate { .. } => {
            backend::open_existing_accounts(config)
        }
    }
}

fn account(change: &AccountCommand, accounts: &Accounts) -> Result<(), CommandError> {
    let mut out = io::stdout();
    match change {
        AccountCommand::Add { name } => writeln!(out, "{}", accounts.add(name)?)?,
        AccountCommand::Rotate { name } => writeln!(out, "{}", accounts.rotate(name)?)?,
        AccountCommand::Remove { name } => accounts.remove(name)?,
        AccountCommand::List => {
            for account in accounts.list()? {
                writeln!(out, "{}\t{}", account.name, account.created)?;
            }
        }
    }
    Ok(())
}
