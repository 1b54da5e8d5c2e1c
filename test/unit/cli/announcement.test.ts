/** The announcement of a server that is ready, at a terminal and elsewhere. */

import { expect, it } from 'vitest'

import { bannerText, readyLine } from '../../../src/cli/announcement.ts'
import type { Server } from '../../../src/server/server.ts'
import type { Settings } from '../../../src/settings/index.ts'

const server = { url: 'http://127.0.0.1:2024', studioUrl: 'http://127.0.0.1:2024/studio/',
  platformUrl: undefined, metricsPort: 9_090, place: '/data', member: 'm1 at 127.0.0.1:4000',
  graphs: [{ graphId: 'agent', file: '/shop/agent.ts', loaded: true }, { graphId: 'broken',
    file: '/shop/broken.ts', loaded: false }] } as unknown as Server
const settings = { dataDirectory: '/data', port: 2024, portIsChosen: true,
  metrics: { host: '127.0.0.1', port: 9_090 } } as unknown as Settings

it('is a line of JSON like the log, unless a person reads it', () => {
  const line = readyLine(server, { settings, nowMs: 0 })
  expect(line).toMatch(/^\{.*\}\n$/)
  expect(JSON.parse(line)).toEqual({ level: 'info', time: '1970-01-01T00:00:00.000Z',
    message: 'Heddle is ready.', version: expect.any(String), url: 'http://127.0.0.1:2024',
    studio: 'http://127.0.0.1:2024/studio/', data: '/data', member: 'm1 at 127.0.0.1:4000',
    metrics: 'port 9090 of 127.0.0.1',
    graphs: [{ id: 'agent', file: '/shop/agent.ts', loaded: true }, { id: 'broken',
      file: '/shop/broken.ts', loaded: false }] })
})

it('names addresses, graphs and data for a person', () => {
  const text = bannerText(server, { settings, nearby: (path) => path.replace('/shop/', '') })
    .replaceAll(/\x1b\[\d*m/g, '')
  expect(text).toContain('serves at http://127.0.0.1:2024\n')
  expect(text).toMatch(/broken +broken\.ts +cannot be used, see the log\n/)
})
