/** The page at the root: the Studio, or what a person sees at the address of a deployment. */

import { HeddleError } from '../errors.ts'
import type { App } from './http/route.ts'

const asset = { config: { access: 'public' }, schema: { hide: true } } as const

/** Adds the route. It says nothing that a deployment's `/ok` does not say, so everybody may ask. */
export function addFrontPage(app: App, hasStudio: boolean): void {
  app.get('/', asset, async ({ headers: { accept }, deployment }, reply) => {
    if (accept?.includes('text/html') && deployment !== undefined) {
      const { name, prefix } = deployment
      return reply.type('text/html; charset=utf-8').headers(headers)
        .send(pageOf(name, prefix, hasStudio && prefix !== ''))
    }
    if (!hasStudio || !accept?.includes('text/html')) throw new HeddleError('not_found', noRoot)
    return reply.redirect('studio/')
  })
}

const noRoot = 'There is no GET /; /docs lists what there is.'

/** It has no scripts, and loads nothing. */
const headers = { 'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
  'x-content-type-options': 'nosniff' }

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;' +
  'padding:0 1rem;color:#1c2430;background:#fcfcfb}h1{font-size:1.5rem}' +
  'code,pre{font:14px/1.5 ui-monospace,monospace;background:#f0f1ee;border-radius:4px}' +
  'code{padding:.1em .3em}pre{padding:1rem;overflow:auto}' +
  '@media(prefers-color-scheme:dark){body{color:#e4e6e2;background:#16181b}' +
  'code,pre{background:#23262b}a{color:#9dc1ff}}'

/** Names of deployments are DNS labels, and need no escapes. */
function pageOf(name: string, prefix: string, hasStudio: boolean): string {
  const studio = hasStudio
    ? `<li><a href="/studio/deployments/${name}">Its page in the Studio</a>: revisions, ` +
      'logs, secrets</li>'
    : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>` +
    `<h1>${name}</h1><p>This address is the API of a deployment of Heddle: programs use it, and ` +
    "people read this page.</p><pre>new Client({ apiUrl: 'the address of this page' })</pre><ul>" +
    `<li><a href="${prefix}/docs">Its operations</a></li>${studio}</ul></body></html>\n`
}
