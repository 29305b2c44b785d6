// A fake clock for the next page that is loaded. `Date.now` and all timers use it. It runs at normal speed; `advance`
// moves it forward and fires the timers that become due, in order. All tabs of the site share the skipped time.
// `stop` also stops `performance.now`, event timestamps and the timers of this page, except timers of at most YIELD
// ms, which only yield to other work.
(() => {
  if (window.testClock) return;
  const YIELD = 10;
  const KEY = "test.skipped";
  const [now, sinceLoad] = [Date.now.bind(Date), performance.now.bind(performance)];
  const [start, end] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
  const timers = new Map();
  let last = 0;
  let stopped = null;
  // `stopped` minus `performance.now` at that time.
  let ahead = 0;

  const skipped = () => Number(localStorage.getItem(KEY) ?? 0);
  const time = () => stopped ?? now() + skipped();
  const move = (ms) => {
    if (ms <= 0) return;
    if (stopped === null) localStorage.setItem(KEY, skipped() + ms);
    else stopped += ms;
  };
  const arm = (id) => {
    const timer = timers.get(id);
    end(timer.real);
    const left = Math.max(0, timer.due - time());
    if (stopped === null || timer.wait <= YIELD) timer.real = start(() => fire(id), left);
  };
  const armAll = () => [...timers.keys()].forEach(arm);
  const fire = (id) => {
    const timer = timers.get(id);
    if (!timer) return;
    end(timer.real);
    if (timer.repeats) {
      timer.due = time() + Math.max(timer.wait, 1);
      arm(id);
    } else timers.delete(id);
    timer.run();
  };
  const add = (repeats) => (handler, delay, ...values) => {
    const wait = Math.max(0, Number(delay) || 0);
    const id = ++last;
    timers.set(id, { due: time() + wait, wait, repeats, run: () => handler(...values) });
    arm(id);
    return id;
  };
  const remove = (id) => {
    end(timers.get(id)?.real);
    timers.delete(id);
  };

  Date.now = () => Math.floor(time());
  performance.now = () => (stopped === null ? sinceLoad() : stopped - ahead);
  window.setTimeout = add(false);
  window.setInterval = add(true);
  window.clearTimeout = window.clearInterval = remove;
  const { get: timeOf } = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp");
  Object.defineProperty(Event.prototype, "timeStamp", {
    get() {
      return stopped === null ? timeOf.call(this) : performance.now();
    },
    configurable: true,
  });
  addEventListener("storage", ({ key }) => key === KEY && armAll());

  window.testClock = {
    stop() {
      if (stopped === null) {
        stopped = now() + skipped();
        ahead = stopped - sinceLoad();
      }
      armAll();
      return Math.floor(stopped);
    },
    start() {
      if (stopped === null) return;
      const left = stopped - now() - skipped();
      stopped = null;
      move(left);
      armAll();
    },
    async advance(ms) {
      const until = time() + ms;
      for (;;) {
        const [next] = [...timers].filter(([, { due }]) => due <= until).sort(([, a], [, b]) => a.due - b.due);
        if (!next) break;
        move(next[1].due - time());
        fire(next[0]);
        // Lets the work that the timer has started run.
        await new Promise((done) => start(done));
      }
      move(until - time());
      armAll();
    },
  };
})();
