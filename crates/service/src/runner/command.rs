//! Runs a program: it reads its input as JSON from standard input, writes its files to its working directory, and
//! reports progress on standard error.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
#[cfg(target_os = "linux")]
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use atelier_contract::Parameters;
use serde_json::Value;

use super::file::{self, MAX_FILE_BYTES};
use super::lines::{Line, Output};
use super::{Run, Runner, Stopped};
use crate::model::Ended;
use crate::outputs::Artifact;
use crate::private;
use crate::report::Report;

mod environment;

/// The environment variable with the id of the task.
const TASK_VARIABLE: &str = "ATELIER_TASK";

/// How often to check whether the program has ended.
const POLL: Duration = Duration::from_millis(50);

/// How long a canceled program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

/// The number of last lines of standard error that an error message contains.
const MAX_LAST_LINES: usize = 5;

/// The number of buffered lines; a program that writes faster blocks.
const BUFFERED_LINES: usize = 1000;

/// The maximum number of output files of a task.
const MAX_FILES: usize = 100;

/// A program with its arguments, which are not passed through a shell.
pub struct Program {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The names of additional environment variables that are passed on.
    pub environment: Vec<String>,
    pub parameters: Parameters,
    /// The parent of the tasks' working directories.
    pub work: PathBuf,
}

impl Runner for Program {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), String> {
        match fs::metadata(&self.program) {
            Ok(found) if found.is_file() && !is_executable(&found) => Err(format!(
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
        // A program of an earlier attempt may still run after the service was killed. One of a service that is alive is left
        // alone: its service may only be disconnected, and would store that the killed program has failed.
        kill_processes_of(run.id, |process| !process.is_of_other_service());
        let made = self.run_in(run, &folder);
        let _ = fs::remove_dir_all(&folder);
        made
    }

    /// Kills the processes that a killed service has left. [`Self::run`] ends those of its own attempt.
    fn stop(&self, id: &str) -> Result<Stopped, String> {
        kill_processes_of(id, |_| true);
        let _ = fs::remove_dir_all(self.work.join(id));
        Ok(Stopped::Yes)
    }
}

#[cfg(unix)]
fn is_executable(program: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    program.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_program: &fs::Metadata) -> bool {
    true
}

impl Program {
    fn run_in(&self, run: &Run<'_>, folder: &Path) -> Result<Vec<Artifact>, Ended> {
        let input = Value::Object(run.convert_input(|path| {
            let path = path.canonicalize().map_err(blocked)?;
            Ok(path.display().to_string().into())
        })?);
        let _ = fs::remove_dir_all(folder);
        private::make_dir(folder).map_err(blocked)?;
        let mut child = self.start(folder, run.id).map_err(|error| {
            Ended::Retry(format!("can't start {}: {error}", self.program.display()))
        })?;
        let lines = child.stderr.take().map(lines_of);
        if let Some(mut stdin) = child.stdin.take() {
            // On a separate thread, because the program may not read all of its input.
            std::thread::spawn(move || stdin.write_all(input.to_string().as_bytes()));
        }
        let mut last = VecDeque::new();
        let ended = wait(run, &mut child, lines.as_ref(), &mut last);
        let status = ended?;
        if !status.success() {
            let last: Vec<String> = last.into();
            let text = last.join("\n");
            return Err(Ended::Failed(match text.trim() {
                "" => format!("The program ended with {status}."),
                text => format!("The program ended with {status}: {text}"),
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
            .envs(environment::inherited(&self.environment))
            .env(TASK_VARIABLE, task)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // In a process group, so that the program can be killed with its children.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// Waits until the program has ended, and reports its output as progress. Kills it when the time limit expires or the
/// service stops. If the task is canceled, the program may first end on SIGTERM.
fn wait(
    run: &Run<'_>,
    child: &mut Child,
    lines: Option<&Receiver<Output>>,
    last: &mut VecDeque<String>,
) -> Result<ExitStatus, Ended> {
    // Reads a limited number of lines, so that endless output delays neither the time limit nor a stop.
    let mut read_lines = |timeout: Duration| {
        let until = Instant::now() + timeout;
        for _ in 0..BUFFERED_LINES {
            let left = until.saturating_duration_since(Instant::now());
            let Some(output) = lines.and_then(|lines| lines.recv_timeout(left).ok()) else {
                return;
            };
            let line = match output {
                Output::Line(line) => line,
                Output::Bar(bar) => {
                    report(run, &bar);
                    continue;
                }
            };
            if let Some(report) = Report::parse(&line) {
                (run.report)(report);
                continue;
            }
            report(run, &line);
            last.push_back(line);
            if last.len() > MAX_LAST_LINES {
                last.pop_front();
            }
        }
    };
    let waited = loop {
        read_lines(Duration::ZERO);
        match has_ended(child) {
            Ok(true) => break Ok(()),
            Ok(false) => {}
            Err(error) => break Err(blocked(error)),
        }
        if let Err(ended) = run.pause(POLL) {
            break Err(ended);
        }
    };
    if run.stop.is_canceled() {
        let until = Instant::now() + GRACE;
        signal_group(child, false);
        while matches!(has_ended(child), Ok(false)) && Instant::now() < until {
            read_lines(Duration::ZERO);
            std::thread::sleep(POLL);
        }
    }
    // Also kills remaining child processes. The system does not reuse the process id before the status is collected.
    signal_group(child, true);
    let status = child.wait().map_err(blocked);
    read_lines(Duration::from_millis(200));
    waited.and(status)
}

fn report(run: &Run<'_>, line: &str) {
    if !line.trim().is_empty() {
        (run.report)(Report::message(line.trim()));
    }
}

/// Returns whether the program has ended. Does not collect its status.
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

/// Sends SIGKILL or SIGTERM to the program and its child processes. Without signals, ends the program in both cases.
fn signal_group(child: &mut Child, is_kill: bool) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if is_kill { Signal::KILL } else { Signal::TERM };
        // An error means that no process is left.
        let _ = kill_process_group(Pid::from_child(child), signal);
    }
    #[cfg(not(unix))]
    {
        let _ = is_kill;
        let _ = child.kill();
    }
}

/// Reads standard error on a separate thread.
fn lines_of(mut stderr: impl Read + Send + 'static) -> Receiver<Output> {
    let (sender, lines) = sync_channel(BUFFERED_LINES);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        let mut line = Line::default();
        while let Ok(count @ 1..) = stderr.read(&mut bytes) {
            let mut output: Vec<Output> = bytes[..count]
                .iter()
                .filter_map(|byte| line.push(*byte))
                .collect();
            output.extend(line.bar());
            if output
                .into_iter()
                .any(|output| sender.send(output).is_err())
            {
                return;
            }
        }
        // The receiver may have been dropped.
        let _ = line.end().map(|rest| sender.send(rest));
    });
    lines
}

/// Kills the selected processes of earlier attempts at the task. Only for Linux.
fn kill_processes_of(task: &str, is_selected: impl Fn(&ProgramProcess) -> bool) {
    #[cfg(target_os = "linux")]
    {
        let mark = format!("{TASK_VARIABLE}={task}");
        let belongs_to_task = |process: &Path| {
            // Processes of other users can't be read.
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        };
        let processes = fs::read_dir("/proc").into_iter().flatten();
        for process in processes.filter_map(Result::ok) {
            let id = process.file_name().to_str().and_then(|id| id.parse().ok());
            if let Some(id) = id.and_then(rustix::process::Pid::from_raw)
                && belongs_to_task(&process.path())
                && is_selected(&ProgramProcess(id))
            {
                // An error means that it has already ended.
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (task, is_selected);
}

/// A process of a program, or of one of its child processes.
#[cfg(target_os = "linux")]
struct ProgramProcess(rustix::process::Pid);

#[cfg(not(target_os = "linux"))]
struct ProgramProcess;

impl ProgramProcess {
    /// Returns whether another process of the service has started the program, and is alive.
    #[cfg(target_os = "linux")]
    fn is_of_other_service(&self) -> bool {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        is_of_other_service(self.0.as_raw_nonzero().get(), own, |process| {
            fs::read_to_string(format!("/proc/{process}/stat")).ok()
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn is_of_other_service(&self) -> bool {
        false
    }
}

/// Returns whether a process, or the leader of its process group, is below another process with the name of the process `own`.
/// `stat` returns the contents of `/proc/PID/stat` of a live process.
#[cfg(target_os = "linux")]
fn is_of_other_service(process: i32, own: i32, stat: impl Fn(i32) -> Option<String>) -> bool {
    let stat = |process: i32| Stat::parse(&stat(process)?);
    let Some(service) = stat(own) else {
        return false;
    };
    let parent = |process: &i32| stat(*process).map(|stat| stat.parent);
    let is_below_other = |process: i32| {
        successors(parent(&process), parent)
            .take_while(|ancestor| *ancestor != own)
            .filter_map(&stat)
            .any(|ancestor| ancestor.name == service.name)
    };
    // A program leads a process group, which a process may still be in after its parent has ended.
    let group = stat(process).map(|stat| stat.group);
    is_below_other(process) || group.is_some_and(is_below_other)
}

/// A part of `/proc/PID/stat`.
#[cfg(target_os = "linux")]
struct Stat {
    name: String,
    parent: i32,
    /// The process group.
    group: i32,
}

#[cfg(target_os = "linux")]
impl Stat {
    /// Parses the process id, the name in parentheses, which may contain spaces and parentheses, the state, the parent
    /// and the group.
    fn parse(stat: &str) -> Option<Self> {
        let (start, fields) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let mut fields = fields.split_whitespace().skip(1);
        Some(Self {
            name: name.to_owned(),
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }
}

/// Collects the files in the folder, by name; ignores hidden files and folders.
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
        return Err(Ended::Failed("The program wrote no file.".into()));
    }
    let sizes = files.iter().filter_map(|file| fs::metadata(file).ok());
    let size: u64 = sizes.map(|found| found.len()).sum();
    if files.len() > MAX_FILES || size > MAX_FILE_BYTES {
        return Err(Ended::Failed(format!(
            "The program wrote {} files of {size} bytes; at most {MAX_FILES} files of {MAX_FILE_BYTES} bytes are permitted.",
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

    fn output(text: &'static str) -> Vec<Output> {
        lines_of(text.as_bytes()).iter().collect()
    }

    /// Guards against killing helper processes of another service's program that have their own process group.
    #[cfg(target_os = "linux")]
    #[test]
    fn processes_below_another_service_are_its_own() {
        let processes = [
            // The id, the name, the parent and the group.
            (1, "init", 0, 1),
            (10, "atelier) serv", 1, 10),
            (11, "program", 10, 11),
            (12, "of program", 11, 11),
            (20, "atelier) serv", 1, 20),
            (21, "program", 20, 21),
            (22, "in its group", 21, 21),
            (23, "in group 23", 22, 23),
            (24, "below 23", 23, 23),
            (25, "without parent", 1, 21),
            (31, "left over", 1, 31),
            (32, "below 31", 31, 31),
            (33, "group has ended", 1, 30),
        ];
        let stat = |process: i32| {
            let (id, name, parent, group) = processes.iter().find(|it| it.0 == process)?;
            Some(format!("{id} ({name}) S {parent} {group} 1 0 -1 4194560"))
        };
        let of_other: Vec<i32> = processes
            .iter()
            .map(|process| process.0)
            .filter(|process| is_of_other_service(*process, 10, stat))
            .collect();
        assert_eq!(of_other, [21, 22, 23, 24, 25]);
        assert!(!is_of_other_service(22, 40, stat));
    }

    /// Guards against a progress bar that is reported only when its line ends.
    #[test]
    fn a_progress_bar_is_reported_while_it_grows() {
        let [line, bar] = [Output::Line, Output::Bar];
        assert_eq!(output("one\ntwo"), [line("one".into()), line("two".into())]);
        assert_eq!(
            output("\r10%\r 20% "),
            [bar("20%".into()), line("20%".into())]
        );
        assert_eq!(output("30%\r"), [bar("30%".into()), line("30%".into())]);
        assert_eq!(
            output("\r10%\r100%\ndone\r\n"),
            [line("100%".into()), line("done".into())]
        );
        assert_eq!(output(""), []);
    }
}
