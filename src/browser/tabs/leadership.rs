//! Exactly one tab leads. [`atelier_engine::lease`] decides; here are the browser's locks, storage
//! and timers.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use atelier_engine::lease::{self, LeadershipClaim, Lease, Renewal, StoredLease};
use gloo_events::EventListener;
use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::{document, window};
use web_sys::AbortController;

use super::lease_store;
use super::locks::{self, Lock};
use crate::browser::{clock, panic, random};

/// The lock's name.
const NAME: &str = "atelier.leader";

/// Reads from storage which tab leads, for a tab that does not.
pub fn found() -> StoredLease {
    lease_store::read()
}

/// This tab's part in the question of who leads.
pub struct Leadership {
    itself: Weak<Self>,
    me: String,
    claim: Cell<LeadershipClaim>,
    is_leading: Cell<bool>,
    /// Storage takes no lease: it says nothing about other tabs.
    is_refused: Cell<bool>,
    lock: RefCell<Option<Lock>>,
    /// Takes the wish for the lock back.
    wish: RefCell<Option<AbortController>>,
    /// Counts up with every wish for the lock: what becomes of an earlier one is of no interest.
    wishes: Cell<u64>,
    /// The browser runs nothing of this page but what other tabs say.
    is_frozen: Cell<bool>,
    has_resigned: Cell<bool>,
    /// The renewals since this tab has left leading to another one, until it asks for it again.
    stood_back: Cell<Option<u32>>,
    /// The page is on its way out: what the browser still runs of it must not take the lease again.
    is_left: Cell<bool>,
    on_change: Box<dyn Fn(bool)>,
}

impl Leadership {
    /// Calls back with `true` when this tab becomes the one that leads, and with `false` when it no
    /// longer is. Lives as long as the page.
    pub fn start(on_change: impl Fn(bool) + 'static) -> Rc<Self> {
        let this = Rc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            me: random::key(),
            claim: Cell::new(LeadershipClaim::AwaitsLock),
            is_leading: Cell::new(false),
            is_refused: Cell::new(false),
            lock: RefCell::new(None),
            wish: RefCell::new(None),
            wishes: Cell::new(0),
            is_frozen: Cell::new(false),
            has_resigned: Cell::new(false),
            stood_back: Cell::new(None),
            is_left: Cell::new(false),
            on_change: Box::new(on_change),
        });
        this.want_lock();
        let renewed = this.clone();
        Interval::new(lease::RENEW_MS, move || renewed.renew()).forget();
        let left = this.clone();
        EventListener::new(&window(), "pagehide", move |_| left.leave()).forget();
        let returned = this.clone();
        EventListener::new(&window(), "pageshow", move |_| returned.come_back()).forget();
        let frozen = this.clone();
        EventListener::new(&document(), "freeze", move |_| frozen.freeze()).forget();
        let resumed = this.clone();
        EventListener::new(&document(), "resume", move |_| resumed.resume()).forget();
        this
    }

    fn want_lock(&self) {
        self.stood_back.set(None);
        let wish = self.wishes.get() + 1;
        self.wishes.set(wish);
        let controller = AbortController::new().ok();
        self.wish.replace(controller.clone());
        let (held, refused) = (self.itself.clone(), self.itself.clone());
        let is_wanted = move |this: &Rc<Self>| this.wishes.get() == wish;
        locks::request(
            NAME,
            controller.as_ref(),
            move |lock| {
                // If not, the lock was on its way when the wish for it was taken back.
                if let Some(this) = held.upgrade().filter(is_wanted) {
                    this.lock.replace(Some(lock));
                    this.set_claim(LeadershipClaim::HasLock);
                }
            },
            move || {
                if let Some(this) = refused.upgrade().filter(is_wanted) {
                    this.set_claim(LeadershipClaim::LeaseOnly);
                }
            },
        );
    }

    /// The browser stops the page's timers and what storage answers, for an unknown time. Were
    /// it to lead, or be the next to, nothing would be sent in any tab until then.
    fn freeze(&self) {
        self.is_frozen.set(true);
        self.step_down();
    }

    /// Leaves leading to a tab that waits for it, and waits behind that one.
    pub fn stand_back(&self) {
        self.stood_back.set(Some(0));
        self.step_down();
    }

    /// Neither leads nor waits for it.
    fn step_down(&self) {
        self.wishes.set(self.wishes.get() + 1);
        if let Some(wish) = self.wish.take() {
            wish.abort();
        }
        self.claim.set(LeadershipClaim::AwaitsLock);
        // First: what this tab was about to do must not be done once another one can lead.
        self.set_leading(false);
        self.give_back();
    }

    /// It goes on behind the tab that leads by now.
    fn resume(&self) {
        if self.is_frozen.replace(false) && !self.has_resigned.get() {
            self.want_lock();
        }
    }

    /// Whether this tab leads, now; to be asked before each call.
    pub fn check(&self) -> bool {
        let needs_look = || {
            let (claim, found, now) = (self.claim.get(), self.read(), clock::now());
            !lease::still_leads(claim, &self.me, &found, now)
                || lease::is_overdue(claim, &self.me, &found, now)
        };
        if self.is_leading.get() && (panic::has_panicked() || needs_look()) {
            // It may only have ended, and no other tab have wanted it.
            self.renew();
        }
        self.is_leading.get()
    }

    /// Leaves leading to other tabs, for good.
    pub fn resign(&self) {
        self.has_resigned.set(true);
        self.set_claim(LeadershipClaim::AwaitsLock);
    }

    fn set_claim(&self, claim: LeadershipClaim) {
        let may_lead = !self.has_resigned.get();
        self.claim.set(if may_lead {
            claim
        } else {
            LeadershipClaim::AwaitsLock
        });
        if !may_lead {
            self.give_back();
        }
        self.renew();
    }

    /// Gives lock and lease to a tab that wants them.
    fn give_back(&self) {
        self.release();
        self.lock.take();
    }

    fn renew(&self) {
        self.decide(false);
    }

    fn decide(&self, has_looked: bool) {
        if panic::has_panicked() {
            // It would go on leading and do nothing. Another tab is to take over.
            self.has_resigned.set(true);
            self.is_leading.set(false);
            self.give_back();
            return;
        }
        // It leads again once it has heard, after it wakes, who has led meanwhile.
        if self.is_frozen.get() {
            self.set_leading(false);
            return;
        }
        // WebKit takes the lock away first, and says so: the lease would be wanted instead.
        if self.is_left.get() {
            if !lease::still_leads(self.claim.get(), &self.me, &self.read(), clock::now()) {
                self.set_leading(false);
            }
            return;
        }
        let now = clock::now();
        if let Some(renewals) = self.stood_back.get() {
            self.stood_back.set(Some(renewals + 1));
            let may_lead = !self.has_resigned.get();
            if may_lead && lease::ends_handover(&self.me, &self.read(), renewals + 1, now) {
                self.want_lock();
            }
        }
        let claim = self.claim.get();
        let renewal = lease::renewal(claim, &self.me, &self.read(), has_looked, now);
        if renewal == Renewal::Recheck
            && let Some(this) = self.itself.upgrade()
        {
            Timeout::new(lease::RECHECK_MS, move || this.decide(true)).forget();
        }
        if matches!(renewal, Renewal::Lead | Renewal::Bid) {
            let lease = Lease {
                holder: self.me.clone(),
                until: now + lease::LEASE_MS,
                locked: claim == LeadershipClaim::HasLock,
            };
            self.is_refused.set(!lease_store::write(&lease));
        }
        self.set_leading(renewal == Renewal::Lead);
    }

    fn set_leading(&self, leads: bool) {
        if self.is_leading.replace(leads) != leads {
            (self.on_change)(leads);
        }
    }

    fn leave(&self) {
        self.is_left.set(true);
        self.release();
    }

    /// The browser had kept the page as it was.
    fn come_back(&self) {
        if self.is_left.replace(false) {
            self.renew();
        }
    }

    /// The page is being left: the next tab need not wait for the lease to end.
    fn release(&self) {
        lease_store::give_back(&self.me);
    }

    fn read(&self) -> StoredLease {
        match lease_store::read() {
            StoredLease::Unreadable => StoredLease::Unreadable,
            StoredLease::Lease(lease) if lease.holder != self.me && lease.until >= clock::now() => {
                StoredLease::Lease(lease)
            }
            _ if self.is_refused.get() => StoredLease::Unreadable,
            found => found,
        }
    }
}
