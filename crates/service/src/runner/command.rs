//! A program of the person's own: its input as JSON on standard input, its files in the folder that
//! it is started in, its progress on standard error.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use atelier_contract::Parameters;
use serde_json::Value;

use super::file::{self, LARGEST};
use super::{Run, Runner};
use crate::model::Ended;
use crate::outputs::Artifact;
use crate::private;

mod environment;

/// The environment variable that tells a program which task it works on.
const TASK: &str = "ATELIER_TASK";

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(50);

/// So many of the last lines of standard error are kept, …
const LINES_KEPT: usize = 5;

/// … each of at most so many bytes.
const LINE: usize = 2000;

/// So many lines wait to be looked at; a program that writes faster waits itself.
const WAITING: usize = 1000;

/// No task makes more files than this.
const MAX_FILES: usize = 100;

/// A program with its arguments. No shell reads them.
pub struct Program {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The names of further environment variables that it gets, as far as the service has them.
    pub environment: Vec<String>,
    pub parameters: Parameters,
    /// The folder in which each task has one of its own while it runs.
    pub work: PathBuf,
}

impl Runner for Program {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), String> {
        match fs::metadata(&self.program) {
            Ok(found) if found.is_file() && !may_run(&found) => Err(format!(
                "{} may not be executed: chmod +x",
                self.program.display()
            )),
            Ok(found) if found.is_file() => Ok(()),
            Ok(_) => Err(format!("{} is not a program", self.program.display())),
            Err(error) => Err(format!("{}: {error}", self.program.display())),
        }
    }

    fn is_program(&self) -> bool {
        true
    }

    fn warnings(&self) -> Vec<String> {
        environment::warnings(&self.environment)
    }

    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        let folder = self.work.join(run.id);
        // A program that an earlier attempt began, before the service was killed, must not go on in parallel to this
        // one.
        end_left_over(run.id);
        let made = self.run_in(run, &folder);
        let _ = fs::remove_dir_all(&folder);
        made
    }
}

#[cfg(unix)]
fn may_run(program: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    program.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_program: &fs::Metadata) -> bool {
    true
}

impl Program {
    fn run_in(&self, run: &Run<'_>, folder: &Path) -> Result<Vec<Artifact>, Ended> {
        let input = Value::Object(run.given(|path| {
            let path = path.canonicalize().map_err(blocked)?;
            Ok(path.display().to_string().into())
        })?);
        let _ = fs::remove_dir_all(folder);
        private::make_dir(folder).map_err(blocked)?;
        let mut child = self.start(folder, run.id).map_err(|error| {
            Ended::Hindered(format!("can't start {}: {error}", self.program.display()))
        })?;
        let lines = child.stderr.take().map(lines_of);
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read it all must not hold this up.
            std::thread::spawn(move || stdin.write_all(input.to_string().as_bytes()));
        }
        let mut last = VecDeque::new();
        let ended = wait(run, &mut child, lines.as_ref(), &mut last);
        let status = ended?;
        if !status.success() {
            let last: Vec<String> = last.into();
            let words = last.join("\n");
            return Err(Ended::Failed(match words.trim() {
                "" => format!("The program ended with {status}."),
                words => format!("The program ended with {status}: {words}"),
            }));
        }
        collect(folder)
    }

    fn start(&self, folder: &Path, task: &str) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(folder)
            .env_clear()
            .envs(environment::passed_on(&self.environment))
            .env(TASK, task)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // With whatever it starts itself, so that all of it can be ended at once.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// Waits for the program's end, saying what it says; ends it when time is up or the service stops.
fn wait(
    run: &Run<'_>,
    child: &mut Child,
    lines: Option<&Receiver<Said>>,
    last: &mut VecDeque<String>,
) -> Result<ExitStatus, Ended> {
    // A program that writes without end delays neither the time limit nor a stop.
    let mut hear = |patience: Duration| {
        let until = Instant::now() + patience;
        for _ in 0..WAITING {
            let left = until.saturating_duration_since(Instant::now());
            let Some(said) = lines.and_then(|lines| lines.recv_timeout(left).ok()) else {
                return;
            };
            let line = match said {
                Said::Line(line) => line,
                Said::Bar(bar) => {
                    run_say(run, &bar);
                    continue;
                }
            };
            run_say(run, &line);
            last.push_back(line);
            if last.len() > LINES_KEPT {
                last.pop_front();
            }
        }
    };
    let waited = loop {
        hear(Duration::ZERO);
        match has_ended(child) {
            Ok(true) => break Ok(()),
            Ok(false) => {}
            Err(error) => break Err(blocked(error)),
        }
        if let Err(ended) = run.pause(LOOK) {
            break Err(ended);
        }
    };
    // The processes that it left behind end, too. Its own id is not given to another before
    // its status was asked for.
    end_group(child);
    let status = child.wait().map_err(blocked);
    hear(Duration::from_millis(200));
    waited.and(status)
}

fn run_say(run: &Run<'_>, line: &str) {
    if !line.trim().is_empty() {
        (run.say)(line.trim());
    }
}

/// Whether it has ended. Its status is left for later.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

fn end_group(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // There may be no process left.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
}

/// A line that a program writes to standard error.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Line(String),
    /// A progress bar at present: it goes back to the start of its line, and ends it when all is done.
    Bar(String),
}

/// Standard error as it comes.
fn lines_of(mut stderr: impl Read + Send + 'static) -> Receiver<Said> {
    let (sender, lines) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        let mut line = Line::default();
        while let Ok(count @ 1..) = stderr.read(&mut bytes) {
            let mut said: Vec<Said> = bytes[..count]
                .iter()
                .filter_map(|byte| line.take(*byte))
                .collect();
            said.extend(line.bar());
            if said.into_iter().any(|said| sender.send(said).is_err()) {
                return;
            }
        }
        // The receiver may be gone.
        let _ = line.end().map(|rest| sender.send(rest));
    });
    lines
}

/// A line that is not whole yet.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    /// What stood there before the program went back to the start.
    before: Vec<u8>,
    is_bar: bool,
}

impl Line {
    /// What a byte makes whole. A line without an end comes in pieces.
    fn take(&mut self, byte: u8) -> Option<Said> {
        match byte {
            b'\n' => return self.end().or(Some(Said::Line(String::new()))),
            b'\r' => {
                if !self.text.is_empty() {
                    self.before = std::mem::take(&mut self.text);
                }
                self.is_bar = true;
            }
            _ => self.text.push(byte),
        }
        (self.text.len() >= LINE).then(|| self.end()).flatten()
    }

    fn words(&self) -> Option<String> {
        let shown = match self.text.trim_ascii() {
            [] => &self.before,
            _ => &self.text,
        };
        let words = String::from_utf8_lossy(shown).trim().to_owned();
        (!words.is_empty()).then_some(words)
    }

    fn bar(&self) -> Option<Said> {
        self.is_bar.then(|| self.words().map(Said::Bar)).flatten()
    }

    fn end(&mut self) -> Option<Said> {
        let words = self.words();
        *self = Self::default();
        words.map(Said::Line)
    }
}

/// Ends what bears the task's name still, if the service was killed; that can be found on Linux alone.
fn end_left_over(task: &str) {
    #[cfg(target_os = "linux")]
    {
        let mark = format!("{TASK}={task}");
        let bears_it = |process: &Path| {
            // Processes of other users can't be read.
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").into_iter().flatten();
        for process in processes.filter_map(Result::ok) {
            let id = process.file_name().to_str().and_then(|id| id.parse().ok());
            if let Some(id) = id.and_then(rustix::process::Pid::from_raw)
                && bears_it(&process.path())
            {
                // It may have ended by itself.
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = task;
}

/// Collects the files in the folder, by name; hidden files and folders are the program's own.
fn collect(folder: &Path) -> Result<Vec<Artifact>, Ended> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(file::unreadable)?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| name(path).is_some_and(|name| !name.starts_with('.')))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Ended::Failed("The program has made no file.".into()));
    }
    let sizes = files.iter().filter_map(|file| fs::metadata(file).ok());
    let size: u64 = sizes.map(|found| found.len()).sum();
    if files.len() > MAX_FILES || size > LARGEST {
        return Err(Ended::Failed(format!(
            "The program has made {} files of {size} bytes; {MAX_FILES} of {LARGEST} bytes are permitted.",
            files.len()
        )));
    }
    files
        .iter()
        .map(|path| {
            let bytes = fs::read(path).map_err(file::unreadable)?;
            Ok(file::artifact(bytes, "", name(path).unwrap_or_default()))
        })
        .collect()
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn blocked(error: impl std::fmt::Display) -> Ended {
    Ended::Blocked(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &'static str) -> Vec<Said> {
        lines_of(text.as_bytes()).iter().collect()
    }

    /// Guards against a bar of which nothing is seen before its line ends.
    #[test]
    fn a_bar_is_seen_while_it_grows() {
        let [line, bar] = [Said::Line, Said::Bar];
        assert_eq!(said("one\ntwo"), [line("one".into()), line("two".into())]);
        assert_eq!(
            said("\r10%\r 20% "),
            [bar("20%".into()), line("20%".into())]
        );
        assert_eq!(said("30%\r"), [bar("30%".into()), line("30%".into())]);
        assert_eq!(
            said("\r10%\r100%\ndone\r\n"),
            [line("100%".into()), line("done".into())]
        );
        assert_eq!(said(""), []);
    }
}
