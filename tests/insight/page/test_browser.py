"""The page in a real browser: right numbers, every control, no request, no thing that jumps."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.helpers import distance
from tests.insight.page.chromium import Chromium, find_browser
from tests.insight.page.pages import expected, expected_gradient, page_of, pixels_for, random_model
from tinyvit.model import preset

pytestmark = pytest.mark.browser

MICRO = {**preset("micro/4", 32, 5).as_dict()}  # the size of the CIFAR-10 recipe's model


@pytest.fixture(scope="module")
def tab():
    """A tab of Chromium, shared by these tests."""
    if find_browser() is None:
        pytest.skip("there is no Chromium to open the page in")
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def model():
    return random_model(**MICRO)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    return page_of(model, tmp_path_factory.mktemp("page") / "page.html", count=20)


@pytest.fixture
def page(tab, path):
    """The page, opened anew in a wide window. Nothing that a test does may make it complain."""
    tab.events.clear()
    tab.view(1400, 1000)
    tab.open(path)
    yield tab
    tab.settle()
    assert tab.complaints() == []


def logits(page):
    return np.array(page.evaluate("[...state.result.logits]"))


def text(page, selector):
    return page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def pixels(page):
    shape = (32, 32, 3)
    return np.array(page.evaluate("[...state.pixels]"), dtype=np.uint8).reshape(shape)


def assert_as_python(page, model, **changes):
    """The page's logits are Python's for the picture that it shows, changed like this."""
    np.testing.assert_allclose(logits(page), expected(model, pixels(page)[None], **changes)[0][0], atol=2e-3)


def test_twenty_pictures_give_the_logits_and_the_attention_of_python(page, model, path):
    times, far, farthest = [], 0.0, 0.0
    for i in range(20):
        page.evaluate(f"byId('samples').children[{i}].click()")
        page.settle()
        wanted, attention = expected(model, pixels(page)[None])
        far = max(far, np.abs(logits(page) - wanted[0]).max())
        seen = page.evaluate("state.result.attention.map((each) => [...each])")
        farthest = max(farthest, np.abs(np.reshape(seen, attention[0].shape) - attention[0]).max())
        times.append(page.evaluate("state.result.milliseconds"))
    size = path.stat().st_size
    print(
        f"\nlogits within {far:.1e}, attention within {farthest:.1e}; a forward pass takes "
        f"{np.median(times):.0f} ms (fastest {min(times):.0f}); {size / 1e6:.2f} MB"
    )
    assert np.abs(wanted).max() > 1
    assert far < 2e-3
    assert farthest < 2e-3
    assert size < 3e6


def test_nothing_leaves_the_page(tab, path):
    """It asks for itself and for its worker only; whatever else is tried, its policy forbids."""
    tab.events.clear()
    tab.view(1400, 1000)
    tab.open(path)
    tab.click("#on")
    addresses = tab.requests()
    assert addresses[0] == path.resolve().as_uri()
    assert all(re.match(r"blob:|data:,", address) for address in addresses[1:]), addresses
    assert tab.complaints() == []

    fetched = "fetch('https://example.com/').then(() => {0}('answered'), () => {0}('refused'))"
    assert tab.evaluate(fetched.format("String")) == "refused"
    worker = (
        f"new Worker(URL.createObjectURL(new Blob([`{fetched.format('postMessage')}`]))).onmessage ="
        " (event) => done(event.data)"
    )
    assert tab.evaluate(f"new Promise((done) => {{ {worker} }})") == "refused"
    image = "const i = new Image(); i.onload = () => done('answered'); i.onerror = () => done('refused')"
    assert (
        tab.evaluate(f"new Promise((done) => {{ {image}; i.src = 'https://example.com/a.png' }})")
        == "refused"
    )
    script = "Object.assign(document.createElement('script'), {textContent: 'window.stranger = 1'})"
    assert tab.evaluate(f"document.body.append({script}), typeof window.stranger") == "undefined"


def test_a_patch_is_asked_where_it_looks(page):
    assert "class token" in text(page, "#asked")
    before = text(page, "#caption")
    page.click("#picture", 0.5 / 8, 2.5 / 8)
    assert text(page, "#asked") == "What the patch in row 3, column 1 draws from each patch."
    assert text(page, "#caption") != before
    drawn = page.evaluate("[...drawnFrom(state, 5, 2)]")
    row = page.evaluate("[...state.result.attention[5].slice((2 * 65 + 17) * 65, (2 * 65 + 18) * 65)]")
    assert drawn == pytest.approx(row)
    shares = page.evaluate("[...mapOf(state, 5, 2).shares]")
    assert shares == pytest.approx(np.array(row[1:]) * 64 / sum(row[1:]))
    page.drag(page.place("#map", 0.1, 0.1), page.place("#map", 0.95, 0.95))
    assert "row 8, column 8" in text(page, "#asked")
    page.click("#ask-answer")
    assert "class token" in text(page, "#asked")


def test_maps_measures_and_rollout(page):
    page.click("#grid tbody tr:nth-child(2) button[aria-label$='head 3']")
    assert text(page, "#caption").startswith("Block 2, head 3.")
    plain = page.evaluate("[...drawnFrom(state, 1, 2)]")
    page.click("#measures label:nth-of-type(2)")
    lengths = page.evaluate("[...state.result.lengths[1].slice(2 * 65, 3 * 65)]")
    assert page.evaluate("[...drawnFrom(state, 1, 2)]") == pytest.approx(np.multiply(plain, lengths))
    page.click("#grid tbody tr:nth-child(4) button[aria-label^='Rollout']")
    assert text(page, "#caption").startswith("Rollout through block 4.")
    assert page.evaluate("byId('switch').disabled")
    assert sum(page.evaluate("[...drawnFrom(state, 3, 'rollout')]")) == pytest.approx(1, abs=1e-5)


def test_heads_are_switched_off_and_on(page, model):
    page.click("#grid tbody tr:nth-child(1) button[aria-label$='head 2']")
    page.click("#switch")
    assert_as_python(page, model, off=["0.1"])
    assert text(page, "#changes") == "Changed: 1 head off."
    assert text(page, "#before").startswith("without your changes: ")
    assert (
        page.evaluate("document.querySelector('#grid .off').getAttribute('aria-label')")
        == "Block 1, head 2, off"
    )
    page.click("#grid tbody tr:nth-child(6) button[aria-label$='mean of the heads']")
    page.click("#switch")
    assert_as_python(page, model, off=["0.1", "5.0", "5.1", "5.2", "5.3"])
    assert "Nothing is drawn" in text(page, "#caption")
    page.click("#switch")
    assert_as_python(page, model, off=["0.1"])
    page.click("#heads-on")
    assert_as_python(page, model)
    assert text(page, "#changes") == "Nothing is changed."


def test_patches_are_covered_with_the_mouse(page, model):
    page.click("#modes label:nth-of-type(2)")
    page.drag(*(page.place("#picture", (column + 0.5) / 8, 1.5 / 8) for column in range(4)))
    assert page.evaluate("[...state.covered]") == [8, 9, 10, 11]
    assert_as_python(page, model, covered=[8, 9, 10, 11])
    assert page.evaluate("document.querySelector('.mark').hidden") is False
    page.click("#picture", 0.5 / 8, 1.5 / 8)  # a covered patch: uncovers
    assert page.evaluate("[...state.covered]") == [9, 10, 11]
    page.click("#uncover")
    assert_as_python(page, model)


def test_patches_are_shuffled_and_positions_dropped(page, model):
    page.click("#shuffle")
    order = page.evaluate("state.order")
    assert sorted(order) == list(range(64))
    assert_as_python(page, model, order=order)
    page.click("#positions")
    assert_as_python(page, model, positions=False)  # the order does not matter any more
    page.click("#restore")
    assert_as_python(page, model)
    assert page.evaluate("byId('restore').disabled")


def test_the_pen_draws_and_samples_come_back(page, model):
    first = pixels(page)
    page.click("#modes label:nth-of-type(3)")
    page.click("#blank")
    assert (pixels(page) == 150).all()
    page.click("#colours button[aria-label=red]")
    page.drag(page.place("#picture", 0.2, 0.5), page.place("#picture", 0.8, 0.5))
    drawn = pixels(page)
    assert drawn[16, 16].tolist() == [0xC8, 0x38, 0x4A]
    assert (drawn[:10] == 150).all()
    assert_as_python(page, model)
    page.evaluate("byId('pen').value = 8; byId('pen').dispatchEvent(new Event('input'))")
    page.drag(page.place("#picture", 0.5, 0.5))
    assert (pixels(page) != drawn).sum() > 30
    page.click("#samples button")
    np.testing.assert_array_equal(pixels(page), first)


def test_a_photo_is_cut_to_the_middle(page, model, tmp_path):
    """A wide photo, red on the left, green in the middle, blue on the right: the green square is seen."""
    photo = np.zeros((200, 600, 3), dtype=np.uint8)
    photo[:, :200, 0] = photo[:, 200:400, 1] = photo[:, 400:, 2] = 255
    Image.fromarray(photo).save(tmp_path / "photo.png")
    node = page.send("DOM.getDocument")["root"]["nodeId"]
    file = page.send("DOM.querySelector", nodeId=node, selector="#file")["nodeId"]
    page.send("DOM.setFileInputFiles", nodeId=file, files=[str(tmp_path / "photo.png")])
    page.wait("state.sample === null")
    page.settle()
    assert (pixels(page)[:, 1:-1] == [0, 255, 0]).all()
    assert_as_python(page, model)
    dropped = (
        "(() => { const data = new DataTransfer(); data.items.add(new File(['no picture'], 'a.png'));"
        "dispatchEvent(new DragEvent('dragover', {dataTransfer: data}));"
        "dispatchEvent(new DragEvent('drop', {dataTransfer: data})) })()"
    )
    page.evaluate(dropped)
    page.wait("byId('trouble').textContent.startsWith('That is not a picture')")
    assert not page.evaluate("document.body.classList.contains('dropping')")


def test_every_step_from_pixels_to_logits_is_shown(page):
    count = page.evaluate("STEPS.length")
    array = "byId('array').getContext('2d').getImageData"
    drawn = f"{array}(0, 0, byId('array').width, byId('array').height).data.buffer"
    titles = []
    for _ in range(count):
        titles.append(text(page, "#step-title"))
        assert re.search(
            r"\) = \(\d+[\d, ]*\) · mean -?[\d.e-]+, standard deviation", text(page, "#step-numbers")
        )
        assert page.evaluate(f"new Set(new Uint32Array({drawn})).size") > 1
        page.evaluate("byId('on').click()")
        page.settle()
    assert page.evaluate("byId('on').disabled")
    assert titles[0] == "Stem · Pixels"
    assert titles[-1] == "Readout · Probabilities"
    assert len(set(titles)) > 60
    page.click("#parts button:nth-child(3)")
    assert text(page, "#step-title") == "Block 2 of 6 · LayerNorm"
    page.click("#back")
    assert text(page, "#step-title") == "Block 1 of 6 · Skip connection"
    page.evaluate("byId('step').focus()")
    page.key("ArrowRight")
    assert text(page, "#step-title") == "Block 2 of 6 · LayerNorm"


def assert_gradient(page, model, target, **changes):
    """The step that is shown is the gradient of the pixels, and Python's."""
    gradient = expected_gradient(model, pixels(page)[None], target, **changes)[0]
    assert text(page, "#step-title") == "Stem · Pixels, the gradient"
    assert distance(np.array(page.evaluate("[...state.result.watched.array]")), gradient.ravel()) < 1e-5
    saliency = np.abs(gradient).max(axis=2)
    np.testing.assert_allclose(
        page.evaluate("state.result.arrived.pixels"), saliency.ravel(), rtol=1e-3, atol=1e-8
    )
    return np.unravel_index(saliency.reshape(8, 4, 8, 4).sum(axis=(1, 3)).argmax(), (8, 8))


def test_one_click_sends_the_gradient_back_to_the_pixels(page, model):
    page.evaluate(
        "window.titles = []; window.shown = []; new MutationObserver(() => {"
        "titles.push(byId('step-title').textContent);"
        "shown.push(byId('stops').querySelectorAll('button:not(.ahead)').length) })"
        ".observe(byId('step-title'), {childList: true}); 1"
    )
    page.click("#send")
    page.wait("state.back && state.sending === null")
    page.settle()
    titles, shown = page.evaluate("titles"), page.evaluate("shown")
    parts = dict.fromkeys(each.split(" · ")[0] for each in titles if "gradient" in each)
    assert [*parts] == ["Readout", *(f"Block {i} of 6" for i in range(6, 0, -1)), "Stem"]
    assert len(set(titles)) == 68  # every step: two names are twice in each block
    assert shown == sorted(shown)
    row, column = assert_gradient(page, model, int(logits(page).argmax()))
    assert text(page, "#arrived").endswith(f"depends most on row {row + 1}, column {column + 1}.")
    page.evaluate("byId('target').value = 2, byId('target').dispatchEvent(new Event('change'))")
    page.settle()
    assert_gradient(page, model, 2)
    page.evaluate("state.off.add('1.1'), state.covered.add(9), run()")
    page.settle()
    assert_gradient(page, model, 2, off=["1.1"], covered=[9])


def test_every_step_back_has_its_own_formula(page):
    page.evaluate("document.querySelector('[value=back]').click(), byId('parts').lastChild.click()")
    page.settle()
    assert text(page, "#step-title") == "Readout · Last LayerNorm, the gradient"
    page.evaluate("state.step = 99, byId('on').click()")
    page.settle()
    assert page.evaluate("byId('on').disabled")
    formulas = []
    for _ in range(page.evaluate("state.step")):
        formulas.append(text(page, "#step-formula"))
        assert re.search(r"^tinyvit/\w+/\w+\.py, eq\. \d+ · lesson \d", text(page, "#step-source"))
        page.evaluate("byId('back').click()")
        page.settle()
    assert formulas[:4] == [
        "dz = p - t",
        "dx = dy W^T",
        "dx_0 = dy,   dx_j = 0",
        "dx = r (g - mean(g) - n mean(g n))      g = dy * weight",
    ]
    assert formulas.count("dS = A * (dA - row sums of dA * A)") == 6


def test_the_keyboard_is_enough(page, model):
    page.evaluate("byId('picture').focus()")
    for name in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"):  # the last one stays put
        page.key(name)
    assert "row 3, column 1" in text(page, "#asked")
    page.evaluate("document.querySelector('[name=mode]').focus()")
    page.key("ArrowRight")
    assert page.evaluate("state.mode") == "cover"
    page.evaluate("byId('picture').focus()")
    page.key(" ", " ")
    assert_as_python(page, model, covered=[16])
    assert "covered" in page.evaluate("byId('picture').getAttribute('aria-label')")
    page.key("Enter")
    assert_as_python(page, model)
    page.evaluate("document.querySelector('#samples button').focus()")
    page.key("ArrowRight")
    page.key("Enter")
    assert page.evaluate("state.sample") == 1
    page.evaluate("document.querySelector('#grid button').focus()")
    page.key("ArrowDown")
    page.key("ArrowRight")
    page.key("Enter")
    assert text(page, "#caption").startswith("Block 2, head 2.")
    stops = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(40):
        page.key("Tab")
        stops.add(
            page.evaluate("document.activeElement.id || document.activeElement.parentElement.className")
        )
    assert {"picture", "switch", "shuffle", "positions", "step", "on", "file"} <= stops


def test_a_screen_reader_hears_the_answer_and_every_control_has_a_name(page):
    page.evaluate("byId('samples').children[7].click()")
    page.settle()
    page.wait("byId('said').textContent.startsWith(byId('headline').querySelector('b').textContent)")
    assert re.fullmatch(r".+, [\d.]+ %", text(page, "#said"))
    page.click("#positions")
    page.wait("byId('said').textContent.includes('without your changes')")
    page.wait("byId('caption-said').textContent === byId('caption').textContent")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    spoken = {"button", "radio", "slider", "application", "table", "toolbar"}
    controls = [n for n in nodes if not n["ignored"] and n["role"]["value"] in spoken - {"table"}]
    assert len(controls) > 60
    assert [n for n in controls if not n.get("name", {}).get("value")] == []


def test_a_phone_is_enough(page, model, path):
    """390 pixels wide: nothing sticks out, a finger covers patches, and the answer stays in view."""
    page.view(390, 844, touch=True)
    page.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("document.querySelector('[value=cover]').click()")
    page.touch(*(page.place("#picture", (c + 0.5) / 8, 0.5 / 8) for c in range(3)))
    assert page.evaluate("[...state.covered]") == [0, 1, 2]
    assert_as_python(page, model, covered=[0, 1, 2])
    page.evaluate("scrollTo(0, 2000)")
    box = page.evaluate(
        "(() => { const b = byId('pocket').getBoundingClientRect(); return [b.top, b.bottom] })()"
    )
    assert 700 < box[0] < box[1] <= 844
    assert text(page, "#pocket b") == text(page, "#headline b")


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_jumps(page, path, width):
    """No element moves, whatever changes on the page (Chromium's own measure of layout shift)."""
    page.view(width, 1000)
    page.open(path)
    page.evaluate(
        "window.shift = 0; new PerformanceObserver((list) => {"
        "for (const each of list.getEntries()) shift += each.value }).observe({type: 'layout-shift'}); 1"
    )
    for script in (
        "byId('samples').children[9].click()",
        "document.querySelector('[value=draw]').click()",
        "document.querySelector('[value=cover]').click()",
        "document.querySelector('[value=look]').click()",
        "state.query = 12, redraw()",
        "byId('positions').click()",
        "document.querySelectorAll('#grid button')[8].click()",
        "byId('switch').click()",
        "byId('parts').children[2].click()",
        "byId('on').click(), byId('on').click()",
        "byId('restore').click()",
    ):
        page.evaluate(f"{script}, 1")
        page.settle()
        page.evaluate("new Promise((done) => setTimeout(done, 120))")
        assert page.evaluate("shift") < 0.002, script


def test_dark_paper_is_dark(page, path):
    page.view(1400, 1000, dark=True)
    page.open(path)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 20, 26)"
    assert page.evaluate("paperColour()") == [18, 22, 29]


def test_without_samples_it_begins_with_a_blank_sheet(tab, tmp_path):
    mean = random_model(pool="mean", position="none", heads=2)
    tab.events.clear()
    tab.view(1400, 1000)
    tab.open(page_of(mean, tmp_path / "page.html", count=0))
    assert tab.evaluate("state.pixels.every((value) => value === 150)")
    assert tab.evaluate("byId('samples').hidden")
    assert tab.evaluate("byId('positions').disabled")
    assert "all patches together" in text(tab, "#asked")
    drawn = tab.evaluate("[...drawnFrom(state, 1, 0)]")
    assert sum(drawn) == pytest.approx(16, abs=1e-4)
    assert tab.complaints() == []


def test_samples_without_labels_are_neither_right_nor_wrong(tab, tmp_path):
    model = random_model(**MICRO)
    model.save_page(tmp_path / "page.html", pixels_for(model, 3))
    tab.events.clear()
    tab.view(1400, 1000)
    tab.open(tmp_path / "page.html")
    tab.evaluate("byId('samples').children[1].click()")
    tab.settle()
    assert tab.evaluate("byId('samples').children[1].title") == "without a label"
    assert text(tab, "#before") == ""
    assert tab.complaints() == []


def test_on_a_phone_no_label_of_a_head_or_a_class_is_cut(tab, tmp_path):
    model = random_model(**{**MICRO, "width": 96, "heads": 6})
    model = replace(model, classes=("automobile", "Rhododendron", "c", "d", "e"))
    tab.view(390, 844)
    tab.open(page_of(model, tmp_path / "page.html"))
    labels = "[...document.querySelectorAll('#grid thead th, #bars .name')]"
    cut = f"{labels}.filter(e => e.scrollWidth > e.clientWidth)"
    assert tab.evaluate(f"{cut}.map(e => e.textContent)") == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_of_many_classes_the_most_likely_are_shown_in_order(tab, tmp_path):
    model = random_model(**MICRO | {"classes": 12})
    tab.view(1400, 1000)
    tab.open(page_of(model, tmp_path / "page.html"))
    tab.settle()
    order = np.argsort(-logits(tab))[:10]
    shown = tab.evaluate("[...document.querySelectorAll('#bars .name')].map(e => e.textContent)")
    assert shown == [model.names[c] for c in order]


def test_a_wrong_answer_names_what_the_sample_is_labelled(page, model):
    for i in range(20):
        page.evaluate(f"byId('samples').children[{i}].click()")
        page.settle()
        label, said = page.evaluate(f"model.samples.labels[{i}]"), int(logits(page).argmax())
        expected = "right" if label == said else f"wrong: the sample is labelled {model.names[label]}"
        assert text(page, "#before") == expected


def test_heat_tells_shares_apart_up_to_eight_times_an_even_one(page):
    shares = [0.1, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 9]
    heats = page.evaluate(f"{shares}.map(heatOfShare)")
    np.testing.assert_allclose(heats, [0, 0, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1, 1], atol=1e-12)


def test_a_picture_in_grey_is_as_bright_as_its_colours(page):
    grey = page.evaluate("[...inGrey(Uint8Array.from([255, 0, 0, 0, 255, 0, 0, 0, 255]))]")
    assert grey == [76] * 3 + [150] * 3 + [29] * 3


def test_the_numbers_of_a_step_are_their_mean_and_standard_deviation(page):
    said = page.evaluate("numbersOf([1, 3, 1, 3, 2])")
    assert said == "mean 2, standard deviation 0.894, from 1 to 3"
