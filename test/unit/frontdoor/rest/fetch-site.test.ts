/** Pages of other origins that make requests without an origin: images, frames, links. */

import { describe, expect, it } from 'vitest'

import { call, openDoor, plainStatus } from '../open-front-door.ts'

const run = '00000000-0000-4000-8000-000000000000'
const watching = [`/threads/${run}/runs/${run}/stream`, `/threads/${run}/runs/${run}/join`,
  `/runs/${run}/stream`]

const from = (site: string, mode = 'no-cors', dest = 'image') => ({ 'sec-fetch-site': site,
  'sec-fetch-mode': mode, 'sec-fetch-dest': dest })
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' }

describe.each(watching)('GET %s with cancel_on_disconnect', (path) => {
  const target = `${path}?cancel_on_disconnect=true`

  it.each([
    ['an image of another site', from('cross-site')],
    ['an image of a neighbour site', from('same-site')],
    ['a frame of another site', from('cross-site', 'navigate', 'iframe')],
    ['a link of another site', from('cross-site', 'navigate', 'document')],
    ['a page of a browser that says nothing', browser],
    ['the same that names another page', { ...browser, referer: 'http://evil.example/x' }],
    ['a page of another origin', { origin: 'http://evil.example' }],
  ])('is refused for %s', async (_what, headers) => {
    const door = await openDoor()
    expect(await plainStatus(door.url, target, headers)).toBe(403)
    expect(door.threads.calls).toEqual([])
  })

  it.each([
    ['a program', {}],
    ['a page of this server', from('same-origin', 'cors', 'empty')],
    ['a person', from('none', 'navigate', 'document')],
    ['a page of this machine', { origin: 'http://localhost:3000',
      ...from('same-site', 'cors', 'empty') }],
  ])('is answered for %s', async (_what, headers) => {
    const door = await openDoor()
    expect(await plainStatus(door.url, target, headers)).not.toBe(403)
    const own = { ...browser, referer: `${door.url}/docs` }
    expect(await plainStatus(door.url, target, own)).not.toBe(403)
  })
})

describe('a page of another origin', () => {
  it.each(['/info', '/threads/x', '/openapi.json'])('may not load %s', async (path) => {
    const door = await openDoor()
    for (const headers of [from('cross-site'), from('cross-site', 'navigate', 'iframe')]) {
      expect(await plainStatus(door.url, path, headers)).toBe(403)
    }
  })

  it('may link to a page, and load all if any page may call', async () => {
    const link = from('cross-site', 'navigate', 'document')
    expect(await plainStatus((await openDoor()).url, '/docs', link)).toBe(200)
    const open = await openDoor({ allowOrigins: ['*'] })
    expect(await plainStatus(open.url, '/info', from('cross-site'))).toBe(200)
  })

  it('may not show the documentation in a frame', async () => {
    const door = await openDoor()
    for (const path of ['/docs', '/docs/', '/docs/static/index.html']) {
      const { headers, status } = await call(door, 'GET', path)
      expect([path, status, headers.get('x-frame-options'), headers.get('content-security-policy')])
        .toEqual([path, 200, 'DENY', "frame-ancestors 'none'"])
    }
  })
})
