// Has `fetch` send what is for GitHub's API to the URL in GITHUB_API. For `node --import`.

const sent = globalThis.fetch;
const here = process.env.GITHUB_API;

globalThis.fetch = (url, options) =>
  sent(String(url).replace("https://api.github.com", here), options);
