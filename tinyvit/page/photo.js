// Photos: dropped on the page, pasted, or chosen from files. The largest part of the right shape is cut from
// the middle.

function setUpPhotos({ state, run }) {
  const take = async (file) => {
    byId("trouble").textContent = "";
    try {
      showPhoto(state, await createImageBitmap(file));
      run();
    } catch {
      byId("trouble").textContent = "That is not a picture that this browser can read.";
    }
  };
  byId("file").addEventListener("change", (event) => {
    if (event.target.files.length) take(event.target.files[0]);
    event.target.value = "";
  });
  addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])][0];
    if (file) take(file);
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
}

// Transparent parts are shown on white.
function showPhoto(state, photo) {
  const scale = Math.min(photo.width / sheet.width, photo.height / sheet.height);
  const [width, height] = [sheet.width * scale, sheet.height * scale];
  const [left, top] = [(photo.width - width) / 2, (photo.height - height) / 2];
  paint.fillStyle = "#ffffff";
  paint.fillRect(0, 0, sheet.width, sheet.height);
  paint.imageSmoothingEnabled = true;
  paint.imageSmoothingQuality = "high";
  paint.drawImage(photo, left, top, width, height, 0, 0, sheet.width, sheet.height);
  state.covered.clear();
  state.order = null;
  state.sample = null;
  readSheet(state);
}
