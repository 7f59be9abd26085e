// Puppeteer with puppeteer-har: every page in a fresh context until its network is idle, its HAR written to a file.
//
//   node puppeteer.js JOB.json DONE.json
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import PuppeteerHar from 'puppeteer-har';
import puppeteer from 'puppeteer-core';

const [jobFile, doneFile] = process.argv.slice(2);
const job = JSON.parse(readFileSync(jobFile, 'utf8'));
const urls = job.urls.map((url, number) => ({ url, har: `${number}.har` }));
const done = { pages: 0 };

async function one() {
  const browser = await puppeteer.launch({
    executablePath: job.browser,
    headless: 'shell',
    args: process.geteuid() === 0 ? ['--no-sandbox', ...job.flags] : job.flags,
    defaultViewport: job.viewport,
  });
  while (urls.length) {
    const { url, har: path } = urls.shift();
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const har = new PuppeteerHar(page);
    await har.start({ path });
    const response = await page.goto(url, { waitUntil: ['load', 'networkidle0'], timeout: 120_000 });
    await har.stop();
    await context.close();
    done.pages += response?.ok() ? 1 : 0;
  }
  await browser.close();
}

await Promise.all(Array.from({ length: job.browsers }, one));
writeFileSync(doneFile, JSON.stringify(done));
