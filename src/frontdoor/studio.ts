/** Serves the Studio: the files of its bundle, and one page for each of its addresses. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import files from '@fastify/static'
import type { FastifyReply } from 'fastify'

import { HeddleError } from '../errors.ts'
import type { App } from './http/route.ts'

/** The page of a component, in a frame of the Studio. */
const componentPage = 'component.html'

/** Options of the Studio, which is served below `/studio/`. */
export interface StudioOptions {
  /** The folder of the built bundle. */
  readonly folder: string
  /** The address of the API, if it is not the one of this server. */
  readonly apiUrl?: string
}

const asset = { config: { access: 'public' }, schema: { hide: true } } as const

/**
 * Adds the routes. They say nothing of any tenant, so everybody may ask for them. Returns whether
 * there is anything to serve: a build that failed leaves no page.
 */
export async function addStudio(app: App, { folder, apiUrl }: StudioOptions): Promise<boolean> {
  const page = fileIn(folder, 'index.html')
  if (page === undefined) return false
  await app.register(files, { root: folder, serve: false, preCompressed: true, etag: true })
  const headers = headersFor(page, apiUrl)
  const frameHeaders = frameHeadersIn(folder)

  app.get('/studio', asset, async (_request, reply) => reply.redirect('studio/'))
  app.get<{ Params: { '*': string } }>('/studio/*', asset, async (request, reply) => {
    const path = (request.params as { '*': string })['*']
    if (path === componentPage && frameHeaders !== undefined) {
      return reply.headers(frameHeaders).sendFile(path, { maxAge: 0 })
    }
    void reply.headers(headers)
    if (path.startsWith('assets/')) return sendAsset(reply, path)
    if (/^[\w-]+\.(js|svg)$/.test(path)) {
      return reply.sendFile(path, { maxAge: 0 })
    }
    return sendPage(reply, pageAt(page, path, apiUrl), request.headers['if-none-match'])
  })
  return true
}

/** The names of assets contain a hash of what is in them, so nobody needs to ask for them twice. */
function sendAsset(reply: FastifyReply, path: string): FastifyReply {
  if (!/^assets\/[\w.-]+$/.test(path) || /\.(gz|br)$/.test(path)) {
    throw new HeddleError('not_found', 'There is no such file of the Studio.')
  }
  return reply.sendFile(path, { maxAge: '365d', immutable: true })
}

function sendPage(reply: FastifyReply, html: string, known: string | undefined): FastifyReply {
  const tag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 27)}"`
  void reply.header('etag', tag).header('cache-control', 'no-cache')
  if (known === tag) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(html)
}

/**
 * The page for a path below `/studio/`. Its base leads back to that folder, so that the same files
 * serve every address, also where a proxy has moved the whole server below a path of its own.
 */
function pageAt(page: string, path: string, apiUrl: string | undefined): string {
  const depth = path.split('/').length - 1
  const base = depth === 0 ? './' : '../'.repeat(depth)
  const api = apiUrl === undefined
    ? ''
    : `<meta name="heddle-api" content="${escaped(apiUrl)}">`
  return page.replace('<base href="./">', `<base href="${base}">${api}`)
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

function fileIn(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch {
    return undefined
  }
}

/**
 * Headers of a page, by which it runs only its own scripts, those in it by their hashes, and speaks
 * only to its own server and that of the API, whatever a model wrote.
 * Source: https://www.w3.org/TR/CSP3/.
 */
function headersFor(page: string, apiUrl: string | undefined): Readonly<Record<string, string>> {
  const connect = apiUrl === undefined ? "'self'" : `'self' ${new URL(apiUrl).origin}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self'${hashesIn(page, 'script')}`,
      "worker-src 'self'",
      `style-src 'self'${hashesIn(page, 'style')}`,
      "font-src 'self'",
      "img-src 'self' data: blob:",
      "frame-src 'self'",
      `connect-src ${connect}`,
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}

/** Hashes of what stands in the page itself between such tags, each after a space. */
function hashesIn(page: string, tag: 'script' | 'style'): string {
  return textsIn(page, tag).map((text) => ` 'sha256-${sha256(text)}'`).join('')
}

/** Texts between such tags without attributes. */
function textsIn(page: string, tag: 'script' | 'style'): readonly string[] {
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  const texts: string[] = []
  for (let begin = page.indexOf(open); begin >= 0;) {
    const end = page.indexOf(close, begin)
    if (end < 0) break
    texts.push(page.slice(begin + open.length, end))
    begin = page.indexOf(open, end)
  }
  return texts
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')

/**
 * Headers of the page of a component, whose code is anybody's: it has no origin and no network. It
 * runs its own script, and those that the page around it sends. Undefined if there is no such page.
 */
function frameHeadersIn(folder: string): Readonly<Record<string, string>> | undefined {
  const [script] = textsIn(fileIn(folder, componentPage) ?? '', 'script')
  if (script === undefined) return undefined
  return {
    'content-security-policy': [
      'sandbox allow-scripts',
      "default-src 'none'",
      `script-src 'sha256-${sha256(script)}' blob:`,
      "style-src 'unsafe-inline'",
      'img-src data: blob:',
      'font-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join('; '),
    // A content security policy covers neither `<link rel="preconnect">` nor WebRTC.
    // Source: https://wicg.github.io/connection-allowlists/.
    'connection-allowlist': '()',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'referrer-policy': 'no-referrer',
  }
}
