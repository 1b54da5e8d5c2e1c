/** Builds the page and serves it on a local port. As a setup of tests, installs its packages. */

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

import { installPackages } from '../support/installed-packages.ts'

/** The client under the hook: the one that it pins, or the newest one. */
export type ClientOfPage = 'pinned' | 'newest'

/** A page that is served. */
export interface PageServer {
  readonly url: string
  close(): void
}

const here = import.meta.dirname
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

/** Vitest calls it once before the tests. */
export function setup(): Promise<void> {
  return installPackages(here, 'the packages of the page')
}

/** Builds the page with one of the clients, then serves it. */
export async function servePage(client: ClientOfPage): Promise<PageServer> {
  const built = join(here, 'node_modules/.built', client)
  await buildPage(client, built)
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://page')
    const file = join(built, pathname === '/' ? 'index.html' : pathname)
    readFile(file).then((body) => {
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(body)
    }, () => response.writeHead(404).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function buildPage(client: ClientOfPage, built: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: join(here, 'page'),
    logLevel: 'error',
    build: { outDir: built, emptyOutDir: true, target: 'es2023' },
    resolve: client === 'pinned' ? {} : {
      alias: [{ find: /^@langchain\/langgraph-sdk/, replacement: 'langgraph-sdk-newest' }],
    },
  })
}
