//! Films and sounds: what is seen of them before they are played, and how they are played.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use serde_json::Value;
use std::time::Duration;

/// Enough for a generation, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Guards against sounds that all look alike in a list, and against a drawing that does not take the player
/// along.
#[tokio::test(flavor = "multi_thread")]
async fn a_sound_is_drawn_in_lists_and_above_its_player() {
    drive("a_sound_is_drawn", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        generate(browser, &address, "audio/reverie", "slow rain").await?;
        // A stroke for each of many stretches: louder and quieter ones.
        let strokes = "
            const path = document.querySelector('ARTICLE .waveform path')?.getAttribute('d') ?? '';
            return new Set(path.split('M')).size > 20";
        let large = strokes.replace("ARTICLE", "article");
        becomes(browser, "a drawing", &large, true).await?;
        let press = "
            const drawing = document.querySelector('.waveform.large');
            const { left, width, top, height } = drawing.getBoundingClientRect();
            drawing.dispatchEvent(new PointerEvent('pointerdown',
                { clientX: left + width / 2, clientY: top + height / 2, bubbles: true }));
            const { currentTime, duration } = document.querySelector('audio');
            return Math.round(currentTime / duration * 10)";
        becomes(browser, "the middle of the sound", press, 5).await?;

        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", "slow rain")).await?;
        let small = strokes.replace("ARTICLE", "");
        becomes(browser, "a small drawing", &small, true).await?;
        browser.press(&by("link", "Gallery")).await?;
        browser.find(&containing("button", "slow rain")).await?;
        becomes(browser, "a drawing as a tile", &small, true).await
    })
    .await;
}

async fn point_at(browser: &Browser, selector: &str) -> Result<()> {
    let script = "
        const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
        return [Math.round(left + width / 2), Math.round(top + height / 2)]";
    let place = browser.run(script, vec![selector.into()]).await?;
    let at = |axis: usize| place[axis].as_i64().unwrap_or_default() as f64;
    let moves = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
        duration: Some(Duration::ZERO),
        x: at(0),
        y: at(1),
    });
    Ok(browser.client.perform_actions(moves).await?)
}

/// Guards against a film that is a stamp in an empty room, or far from its controls, or blown up to a blur next to
/// another one; and a sound that is drawn far from its player.
#[tokio::test(flavor = "multi_thread")]
async fn films_and_sounds_have_the_room_they_are_shown_in() {
    drive("films_and_sounds_large", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.set_size(1440, 900).await?;
        generate(browser, &address, "video/silk", "red silk").await?;
        generate(browser, &address, "audio/reverie", "slow rain").await?;
        browser.press(&by("link", "Gallery")).await?;
        let own_size = "
            const film = document.querySelector('ROOM video');
            const { width, height } = film?.getBoundingClientRect() ?? {};
            return !!film?.videoWidth
                && Math.abs(width - film.videoWidth) < 1 && Math.abs(height - film.videoHeight) < 1";
        let whole_room = "
            const film = document.querySelector('.stage video');
            const stage = document.querySelector('.stage');
            if (!film?.videoWidth) return 'no film yet';
            const { width, height } = film.getBoundingClientRect();
            const room = getComputedStyle(stage);
            const wide = stage.clientWidth - parseFloat(room.paddingLeft) - parseFloat(room.paddingRight);
            const high = stage.clientHeight - parseFloat(room.paddingTop) - parseFloat(room.paddingBottom);
            const fills = Math.abs(width - wide) < 2 || Math.abs(height - high) < 2
                || Math.abs(width - 1.5 * film.videoWidth) < 2;
            const isItsShape = Math.abs(width / height - film.videoWidth / film.videoHeight) < 0.02;
            return fills && isItsShape && width <= wide + 1 && height <= high + 1
                ? 'fills it' : `${width} by ${height} in ${wide} by ${high}`";
        let together = "
            const drawing = document.querySelector('ROOM .waveform');
            const player = document.querySelector('ROOM audio');
            if (!drawing || !player) return 'none yet';
            const room = document.querySelector('ROOM').getBoundingClientRect();
            const [above, below] = [drawing, player].map(it => it.getBoundingClientRect());
            const gap = below.top - above.bottom;
            const offset = Math.abs(above.top + below.bottom - room.top - room.bottom) / 2;
            return gap >= 0 && gap < 40 && offset < 20 ? 'together' : `${gap} px apart, ${offset} px off the middle`";
        browser.press(&starting("button", "Video: red silk")).await?;
        browser.find(&by("dialog", "Output")).await?;
        becomes(browser, "a film in its room", whole_room, "fills it").await?;
        // Space is the player's, where no button has the focus.
        let paused = "return String(document.querySelector('.stage video').paused)";
        for expected in ["true", "false"] {
            browser.client.active_element().await?.send_keys(" ").await?;
            becomes(browser, "whether the film rests", paused, expected).await?;
        }
        // How long it is, and how long it took.
        browser.see_text("s long", TIMEOUT).await?;
        browser.see_text("made in", TIMEOUT).await?;
        browser.press(&by("button", "Previous")).await?;
        let large = together.replace("ROOM", ".stage");
        becomes(browser, "a sound in one piece", &large, "together").await?;
        // No model of this service takes a sound, which is said before it is pressed.
        let vain = "
            const button = [...document.querySelectorAll('.lightbox button')].find(
                it => it.textContent.trim() === 'Use as input');
            return button?.getAttribute('aria-disabled') === 'true' ? button.title : ''";
        becomes(browser, "why not", vain, "No model takes it.").await?;
        // Pressed all the same it opens nothing; it says it to those who see no titles.
        browser.press(&by("button", "Use as input")).await?;
        let said = "
            const isOpen = document.querySelector('.lightbox .menu:popover-open');
            const answer = document.querySelector('.lightbox .answer')?.innerText ?? '';
            return isOpen ? 'a menu' : answer.includes('No model takes it.') ? 'words' : 'nothing'";
        becomes(browser, "what a press does", said, "words").await?;
        // The sound is the only one of its kind.
        browser.press(&by("button", "Compare")).await?;
        browser.find(&by("dialog", "Compare")).await?;
        let compared = own_size.replace("ROOM", ".compared");
        becomes(browser, "a film compared", &compared, true).await?;
        let no_slider = "
            const choice = [...document.querySelectorAll('fieldset')].find(it => it.innerText.includes('Slider'));
            return String(!choice?.checkVisibility())";
        becomes(browser, "no slider over a sound", no_slider, "true").await?;
        // Below its head, and above what differs.
        let compared = "
            const [drawing, player] = ['.waveform', 'audio'].map(
                it => document.querySelector(`.compared-output ${it}`)?.getBoundingClientRect());
            const below = document.querySelector('.differences')?.getBoundingClientRect();
            if (!drawing || !player || !below) return 'none yet';
            const gap = player.top - drawing.bottom;
            return gap >= 0 && gap < 40 && below.top >= player.bottom
                ? 'together' : `${gap} px apart, ${below.top - player.bottom} px above what differs`";
        becomes(browser, "a sound compared", compared, "together").await
    })
    .await;
}

/// Guards against films that all play at once in a list, with sound, or that do not play at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_film_plays_in_a_list_while_the_pointer_is_on_it() {
    drive("a_film_plays_in_a_list", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        generate(browser, &address, "video/silk", "red silk").await?;
        let playing = "
            const { muted, loop, controls, readyState } = document.querySelector('article video');
            return [muted, loop, controls, readyState > 0]";
        let all = Value::from(vec![true; 4]);
        becomes(browser, "a film without sound", playing, all).await?;

        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", "red silk")).await?;
        let still = "
            const { paused, muted, currentTime, readyState } = document.querySelector('video.still');
            return [paused, muted, currentTime < 0.1, readyState > 1]";
        let all = Value::from(vec![true; 4]);
        becomes(browser, "a frame that stands still", still, all).await?;
        point_at(browser, "video.still").await?;
        let plays = "
            const { paused, currentTime } = document.querySelector('video.still');
            return !paused && currentTime > 0.1";
        becomes(browser, "a film that plays", plays, true).await?;
        point_at(browser, "h1").await?;
        let rests = "return document.querySelector('video.still').paused";
        becomes(browser, "a film that rests", rests, true).await
    })
    .await;
}

/// Guards against buttons that lose their words, or break into rows of their own, where a picture is narrower than its
/// place; and against several sizes of them.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_with_a_picture_is_one_row_below_it() {
    drive("what_is_done_with_a_picture", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        // Higher than wide, it is narrower than the pane.
        generate(browser, &service.address(), "image/tessera", "amber").await?;
        let row = "
            const image = document.querySelector('.picture > img');
            if (!image?.naturalWidth) return 'no picture';
            const { bottom } = image.getBoundingClientRect();
            const buttons = [...document.querySelectorAll('.task-actions :is(button, select)')]
                .filter(it => it.checkVisibility())
                .map(it => it.getBoundingClientRect());
            const tops = new Set(buttons.map(it => Math.round(it.top)));
            const heights = new Set(buttons.map(it => Math.round(it.height)));
            if (tops.size > 1 || heights.size > 1) return `tops ${[...tops]}, heights ${[...heights]}`;
            const end = Math.max(...buttons.map(it => it.right));
            if (end > document.documentElement.clientWidth) return `it ends at ${end}`;
            return buttons[0].top >= bottom ? String(buttons.length) : 'not below it';";
        // Vary, how many, Run again, Edit, Download, the heart and the menu. On phones Vary, Use as input, Download,
        // the heart and the menu, in which the others are.
        for (width, height, buttons) in [(1440, 900, "7"), (768, 1024, "7"), (360, 740, "5"), (320, 640, "5")] {
            browser.set_size(width, height).await?;
            becomes(browser, &format!("a row at {width}"), row, buttons).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a result that jumps: the place that was kept for it was narrower than what came, so that all
/// below it moved. And against a page with a result that is longer than the screen.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_comes_where_its_place_was_kept() {
    drive("a_result_comes_where", async |browser| {
        let service = Service::with_site(&["--speed", "3"]).await?;
        browser.set_size(1440, 900).await?;
        let page = format!("{}/models/image/strata", service.address());
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        // With the typeface that comes late.
        browser.settled().await?;
        browser.fill(&prompt, "cobalt ridges").await?;
        browser.press(&by("button", "Generate")).await?;
        let keep = "
            const place = document.querySelector('.media-place > .waiting');
            if (!place) return false;
            window.kept = place.getBoundingClientRect();
            return true";
        becomes(browser, "a place", keep, true).await?;
        let compare = "
            const image = document.querySelector('.picture > img');
            if (!image?.naturalWidth) return 'no picture';
            const [now, then] = [image.getBoundingClientRect(), window.kept];
            const moved = ['left', 'top', 'right', 'bottom'].filter(side => Math.abs(now[side] - then[side]) > 2);
            if (moved.length > 0) return `${moved} of ${JSON.stringify(then)} and ${JSON.stringify(now)}`;
            return document.documentElement.scrollHeight <= innerHeight ? 'there' : 'the page scrolls'";
        becomes(browser, "a picture", compare, "there").await
    })
    .await;
}

/// Guards against one place that is kept for four outputs, which then push all below them away.
#[tokio::test(flavor = "multi_thread")]
async fn several_results_come_where_their_places_were_kept() {
    drive("several_results_come_where", async |browser| {
        let service = Service::with_site(&["--speed", "3"]).await?;
        browser.set_size(1440, 900).await?;
        let page = format!("{}/models/image/tessera", service.address());
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        // With the typeface that comes late.
        browser.settled().await?;
        browser.fill(&prompt, "cobalt panes").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "3")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let keep = "
            const places = [...document.querySelectorAll('.outputs > :is(.waiting, .output-place)')];
            if (places.length !== 3) return `${places.length} places`;
            window.kept = places.map(place => place.getBoundingClientRect());
            return 'three'";
        becomes(browser, "three places", keep, "three").await?;
        let compare = "
            const images = [...document.querySelectorAll('.picture > img')];
            if (images.length !== 3 || images.some(image => !image.naturalWidth)) return 'no pictures';
            const moved = images.filter((image, n) => {
                const [now, then] = [image.getBoundingClientRect(), window.kept[n]];
                return ['left', 'top', 'right', 'bottom'].some(side => Math.abs(now[side] - then[side]) > 3);
            });
            if (moved.length === 0) return 'there';
            return JSON.stringify([window.kept, images.map(image => image.getBoundingClientRect())])";
        becomes(browser, "three pictures", compare, "there").await
    })
    .await;
}

/// Guards against four stamps in one row of a large screen, and of a middling one four that are strewn over the pane:
/// they are one thing, as large as there is room for, and all in sight.
#[tokio::test(flavor = "multi_thread")]
async fn four_results_lie_two_and_two() {
    drive("four_results_lie_two_and_two", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let page = format!("{}/models/image/strata", service.address());
        browser.set_size(1440, 900).await?;
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "dunes at dusk").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "4")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let lies = "
            const images = [...document.querySelectorAll('.picture > img')];
            if (images.length !== 4 || images.some(image => !image.naturalWidth)) return 'no pictures';
            const [first, second, third, last] = images.map(image => image.getBoundingClientRect());
            if (Math.abs(first.top - second.top) > 1) return 'one below the other';
            if (third.top < first.bottom || Math.abs(third.left - first.left) > 1) return 'in a row';
            const gap = second.left - first.right;
            if (gap > 16) return `${gap} px apart`;
            if (last.bottom > innerHeight) return 'out of sight';
            const room = document.querySelector('.result').getBoundingClientRect();
            const share = (last.bottom - first.top) / room.height;
            return share > 0.5 ? 'two and two' : `${share} of the pane`";
        // In a window that is wide and low they are larger in a row.
        for (width, height) in [(1440, 900), (2560, 1300), (1440, 900)] {
            browser.set_size(width, height).await?;
            let what = format!("four pictures in {width} by {height}");
            becomes(browser, &what, lies, "two and two").await?;
        }
        // Guards against stamps that their own buttons cover: in a low window they are scrolled to.
        let short = "
            const images = [...document.querySelectorAll('.picture > img')];
            const low = images.filter(image => image.getBoundingClientRect().height < 170);
            return low.length ? `${low[0].getBoundingClientRect().height} px` : 'large enough'";
        browser.set_size(1366, 650).await?;
        becomes(browser, "four in a low window", short, "large enough").await?;
        browser.set_size(1440, 900).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&by("link", "dunes at dusk")).await?;
        let lies = lies.replace(".result", "main");
        becomes(browser, "four at an address of their own", &lies, "two and two").await
    })
    .await;
}

/// Guards against a film of 480 pixels that is stretched over a large screen, blocky, and against one that swims in a place
/// three times as high.
#[tokio::test(flavor = "multi_thread")]
async fn a_film_is_as_large_as_its_pixels_at_most() {
    drive("a_film_as_large", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        browser.set_size(2560, 1440).await?;
        generate(browser, &service.address(), "video/silk", "teal threads").await?;
        let fits = "
            const film = document.querySelector('.picture > video');
            if (!film?.videoWidth) return 'no film';
            const { width } = film.getBoundingClientRect();
            if (Math.abs(width - film.videoWidth) > 1) return `${width} px of ${film.videoWidth}`;
            const place = film.closest('.media-place').getBoundingClientRect();
            return place.height <= film.videoHeight + 1 ? 'fits' : `a place of ${place.height} px for ${film.videoHeight}`";
        becomes(browser, "a film", fits, "fits").await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&by("link", "teal threads")).await?;
        becomes(browser, "a film at its own page", fits, "fits").await
    })
    .await;
}

/// Guards against films that lie in squares until they are loaded: their shape was learned of pictures alone.
#[tokio::test(flavor = "multi_thread")]
async fn the_shape_of_films_is_learned() {
    drive("the_shape_of_films", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        generate(browser, &service.address(), "video/silk", "jade threads").await?;
        let shape = "
            const film = document.querySelector('video');
            const known = JSON.parse(localStorage.getItem('atelier.shapes') ?? '{}')['video/silk'];
            return !!film && Math.abs(known - film.videoWidth / film.videoHeight) < 0.01";
        becomes(browser, "a known shape", shape, true).await
    })
    .await;
}
