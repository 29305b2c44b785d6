//! The faults of a round, in an order that its seed determines.

use std::time::{Duration, Instant};

use super::proxy::Mode;
use super::random::Random;
use super::system::{PROCESSES, SERVERS, System};

/// A fault. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL. The process is started again after `down`.
    Kill {
        process: usize,
        down: u64,
    },
    /// SIGSTOP, and SIGCONT after `time`.
    Pause {
        process: usize,
        time: u64,
    },
    /// SIGTERM, and a new start.
    Replace {
        process: usize,
    },
    /// Replaces all processes in the order of an upgrade, by the program under test.
    Upgrade,
    RestartDatabase {
        is_crash: bool,
        down: u64,
    },
    /// Cuts a process's connections to PostgreSQL.
    CutDatabase {
        process: usize,
    },
    /// Delays everything between a process and PostgreSQL.
    DelayDatabase {
        process: usize,
        delay: u64,
        time: u64,
    },
    /// Lets nothing pass between a process and PostgreSQL.
    HoldDatabase {
        process: usize,
        time: u64,
    },
    /// Ends the connections that receive PostgreSQL's notifications.
    EndListeners,
    /// Refuses connections to the bucket.
    CutBucket {
        time: u64,
    },
    /// Lets nothing pass to and from the bucket.
    HoldBucket {
        time: u64,
    },
    /// Leaves PostgreSQL no disk space.
    FillDisk {
        time: u64,
    },
}

/// A sequence of faults, one after the other. The two kinds run concurrently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    Processes,
    Servers,
}

/// The pause after which a process is certainly considered dead.
const PAUSE: (u64, u64) = (12_000, 16_000);

impl Fault {
    /// Returns how long the fault takes at least, in milliseconds.
    fn time(self) -> u64 {
        match self {
            Self::Kill { down: time, .. }
            | Self::RestartDatabase { down: time, .. }
            | Self::Pause { time, .. }
            | Self::DelayDatabase { time, .. }
            | Self::HoldDatabase { time, .. }
            | Self::CutBucket { time }
            | Self::HoldBucket { time }
            | Self::FillDisk { time } => time,
            Self::Replace { .. }
            | Self::Upgrade
            | Self::CutDatabase { .. }
            | Self::EndListeners => 0,
        }
    }

    fn random(random: &mut Random, sequence: Sequence) -> Self {
        let any = PROCESSES.len() as u64 - 1;
        let process = usize::try_from(random.between(0, any)).unwrap();
        match sequence {
            Sequence::Processes => match random.between(0, 5) {
                0..=2 => Self::Kill {
                    process,
                    down: random.between(0, 3) * 1500,
                },
                3 | 4 => Self::Pause {
                    process,
                    time: random.between(PAUSE.0, PAUSE.1),
                },
                _ => Self::Replace { process },
            },
            Sequence::Servers => match random.between(0, 8) {
                0 | 1 => Self::RestartDatabase {
                    is_crash: random.between(0, 1) == 1,
                    down: random.between(0, 3000),
                },
                2 => Self::CutDatabase { process },
                3 => Self::DelayDatabase {
                    process,
                    delay: random.between(20, 400),
                    time: random.between(2000, 5000),
                },
                4 => Self::HoldDatabase {
                    process,
                    time: random.between(1000, 15_000),
                },
                5 => Self::EndListeners,
                6 => Self::CutBucket {
                    time: random.between(500, 8000),
                },
                7 => Self::HoldBucket {
                    time: random.between(500, 8000),
                },
                _ => Self::FillDisk {
                    time: random.between(500, 3000),
                },
            },
        }
    }
}

/// Returns the faults of a round, which take about `time`, each with the pause before it. The processes' begin with an
/// upgrade after the first fault, if `is_upgrade`.
pub fn plan(
    seed: u64,
    sequence: Sequence,
    time: Duration,
    is_upgrade: bool,
) -> Vec<(Duration, Fault)> {
    let mut random = Random::new(seed, sequence as u64 + 1);
    let mut left = u64::try_from(time.as_millis()).unwrap();
    let mut faults = Vec::new();
    loop {
        let pause = random.between(300, 3000);
        let fault = match (is_upgrade, sequence, faults.len()) {
            (true, Sequence::Processes, 1) => Fault::Upgrade,
            _ => Fault::random(&mut random, sequence),
        };
        // A fault that takes too long is left out, not shortened.
        if pause + fault.time() > left {
            return faults;
        }
        left -= pause + fault.time();
        faults.push((Duration::from_millis(pause), fault));
    }
}

/// Runs the faults one after the other. Stops after `until`.
pub fn run(system: &System, faults: &[(Duration, Fault)], until: Instant) {
    for (pause, fault) in faults {
        std::thread::sleep(*pause);
        if Instant::now() > until {
            return;
        }
        apply(system, *fault);
    }
}

fn apply(system: &System, fault: Fault) {
    let millis = Duration::from_millis;
    let for_a_while = |proxy: &super::proxy::Proxy, mode, time| {
        proxy.set(mode);
        std::thread::sleep(millis(time));
        proxy.set(Mode::Forward);
    };
    match fault {
        Fault::Kill { process, down } => system.kill(process, millis(down)),
        Fault::Pause { process, time } => system.pause(process, millis(time)),
        Fault::Replace { process } => system.replace(process),
        Fault::Upgrade => {
            // Workers first: an earlier one does not know what a newer `serve` accepts.
            for process in (SERVERS..PROCESSES.len()).chain(0..SERVERS) {
                system.replace(process);
            }
        }
        Fault::RestartDatabase { is_crash, down } => {
            system.database.restart(is_crash, millis(down));
        }
        Fault::CutDatabase { process } => system.database_proxies[process].cut(),
        Fault::DelayDatabase {
            process,
            delay,
            time,
        } => for_a_while(
            &system.database_proxies[process],
            Mode::Delay(millis(delay)),
            time,
        ),
        Fault::HoldDatabase { process, time } => {
            for_a_while(&system.database_proxies[process], Mode::Hold, time);
        }
        Fault::EndListeners => system.database.end_listeners(),
        Fault::CutBucket { time } => for_a_while(&system.bucket_proxy, Mode::Refuse, time),
        Fault::HoldBucket { time } => for_a_while(&system.bucket_proxy, Mode::Hold, time),
        Fault::FillDisk { time } => system.database.fill_disk(millis(time)),
    }
}

#[test]
fn a_seed_repeats_the_same_faults() {
    let time = Duration::from_secs(30);
    for sequence in [Sequence::Processes, Sequence::Servers] {
        let plan = |seed| plan(seed, sequence, time, false);
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
        let kinds: std::collections::HashSet<_> = (0..50)
            .flat_map(plan)
            .map(|(_, fault)| std::mem::discriminant(&fault))
            .collect();
        assert!(kinds.len() >= 3, "{sequence:?}");
        for (_, fault) in (0..50).flat_map(plan) {
            assert!(fault.time() <= 30_000, "{fault:?}");
        }
    }
    let upgrade = plan(1, Sequence::Processes, time, true);
    assert_eq!(upgrade[1].1, Fault::Upgrade);
}
