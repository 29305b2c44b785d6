//! Ensures that exactly one tab leads. [`atelier_engine::lease`] decides; this file uses the browser's locks, storage and
//! timers.

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

/// The name of the lock.
const NAME: &str = "atelier.leader";

/// Reads from storage which tab leads, for a tab that does not lead.
pub fn found() -> StoredLease {
    lease_store::read()
}

/// The claim of this tab to lead.
pub struct Leadership {
    itself: Weak<Self>,
    me: String,
    claim: Cell<LeadershipClaim>,
    is_leading: Cell<bool>,
    /// Whether storage refuses the lease, so that the lease contains no information about other tabs.
    is_refused: Cell<bool>,
    lock: RefCell<Option<Lock>>,
    /// Aborts the pending request for the lock.
    pending_request: RefCell<Option<AbortController>>,
    /// The number of requests for the lock. The results of earlier requests are ignored.
    requests: Cell<u64>,
    /// Whether the browser has frozen the page, so that only messages from other tabs are handled.
    is_frozen: Cell<bool>,
    has_resigned: Cell<bool>,
    /// The number of renewals since this tab handed leadership over, until it requests the lock again.
    renewals_since_handover: Cell<Option<u32>>,
    /// Whether the page is being unloaded. Code that still runs must not take the lease again.
    is_unloading: Cell<bool>,
    on_change: Box<dyn Fn(bool)>,
}

impl Leadership {
    /// Starts to claim leadership. Calls back with `true` when this tab begins to lead, and with `false` when it no longer
    /// leads. Lives as long as the page.
    pub fn start(on_change: impl Fn(bool) + 'static) -> Rc<Self> {
        let this = Rc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            me: random::key(),
            claim: Cell::new(LeadershipClaim::AwaitsLock),
            is_leading: Cell::new(false),
            is_refused: Cell::new(false),
            lock: RefCell::new(None),
            pending_request: RefCell::new(None),
            requests: Cell::new(0),
            is_frozen: Cell::new(false),
            has_resigned: Cell::new(false),
            renewals_since_handover: Cell::new(None),
            is_unloading: Cell::new(false),
            on_change: Box::new(on_change),
        });
        this.request_lock();
        let renewed = this.clone();
        Interval::new(lease::RENEW_MS, move || renewed.renew()).forget();
        let left = this.clone();
        EventListener::new(&window(), "pagehide", move |_| left.leave()).forget();
        let returned = this.clone();
        EventListener::new(&window(), "pageshow", move |_| returned.restore()).forget();
        let frozen = this.clone();
        EventListener::new(&document(), "freeze", move |_| frozen.freeze()).forget();
        let resumed = this.clone();
        EventListener::new(&document(), "resume", move |_| resumed.resume()).forget();
        this
    }

    fn request_lock(&self) {
        self.renewals_since_handover.set(None);
        let number = self.requests.get() + 1;
        self.requests.set(number);
        let controller = AbortController::new().ok();
        self.pending_request.replace(controller.clone());
        let (granted, refused) = (self.itself.clone(), self.itself.clone());
        let is_latest = move |this: &Rc<Self>| this.requests.get() == number;
        locks::request(
            NAME,
            controller.as_ref(),
            move |lock| {
                // If another request was made since, this one was aborted after the browser had granted the lock.
                if let Some(this) = granted.upgrade().filter(is_latest) {
                    this.lock.replace(Some(lock));
                    this.set_claim(LeadershipClaim::HasLock);
                }
            },
            move || {
                if let Some(this) = refused.upgrade().filter(is_latest) {
                    this.set_claim(LeadershipClaim::LeaseOnly);
                }
            },
        );
    }

    /// Handles a freeze: the browser stops the page's timers and the responses of storage for an unknown time. Gives up
    /// leadership, because no tab would send anything while a frozen tab leads or is the next to lead.
    fn freeze(&self) {
        self.is_frozen.set(true);
        self.step_down();
    }

    /// Hands leadership over to a waiting tab, and waits behind it.
    pub fn hand_over_leadership(&self) {
        self.renewals_since_handover.set(Some(0));
        self.step_down();
    }

    /// Stops leading and waiting for leadership.
    fn step_down(&self) {
        self.requests.set(self.requests.get() + 1);
        if let Some(request) = self.pending_request.take() {
            request.abort();
        }
        self.claim.set(LeadershipClaim::AwaitsLock);
        // Called first, because pending work of this tab must stop before another tab can lead.
        self.set_leading(false);
        self.release_all();
    }

    /// Handles the end of a freeze: waits behind the tab that leads now.
    fn resume(&self) {
        if self.is_frozen.replace(false) && !self.has_resigned.get() {
            self.request_lock();
        }
    }

    /// Returns whether this tab leads now. Must be called before each call to the service.
    pub fn check(&self) -> bool {
        let needs_renewal = || {
            let (claim, found, now) = (self.claim.get(), self.read(), clock::now());
            !lease::still_leads(claim, &self.me, &found, now)
                || lease::is_overdue(claim, &self.me, &found, now)
        };
        if self.is_leading.get() && (panic::has_panicked() || needs_renewal()) {
            // The lease may have expired without another tab claiming it.
            self.renew();
        }
        self.is_leading.get()
    }

    /// Leaves leadership to other tabs permanently.
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
            self.release_all();
        }
        self.renew();
    }

    /// Releases the lock and the lease for other tabs.
    fn release_all(&self) {
        self.release_lease();
        self.lock.take();
    }

    fn renew(&self) {
        self.decide(false);
    }

    fn decide(&self, has_looked: bool) {
        if panic::has_panicked() {
            // After a panic, this tab would lead without making calls. Another tab must take over.
            self.has_resigned.set(true);
            self.is_leading.set(false);
            self.release_all();
            return;
        }
        // A frozen tab does not lead again before it is resumed and has read which tab led in the meantime.
        if self.is_frozen.get() {
            self.set_leading(false);
            return;
        }
        // WebKit releases the lock of a page that is being unloaded and reports it. Without this check, the tab would claim the
        // lease instead.
        if self.is_unloading.get() {
            if !lease::still_leads(self.claim.get(), &self.me, &self.read(), clock::now()) {
                self.set_leading(false);
            }
            return;
        }
        let now = clock::now();
        if let Some(renewals) = self.renewals_since_handover.get() {
            self.renewals_since_handover.set(Some(renewals + 1));
            let may_lead = !self.has_resigned.get();
            if may_lead && lease::ends_handover(&self.me, &self.read(), renewals + 1, now) {
                self.request_lock();
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
        self.is_unloading.set(true);
        self.release_lease();
    }

    /// Handles the restoration of the page from the back/forward cache.
    fn restore(&self) {
        if self.is_unloading.replace(false) {
            self.renew();
        }
    }

    /// Releases the lease, so that the next tab need not wait until it expires.
    fn release_lease(&self) {
        lease_store::release(&self.me);
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
