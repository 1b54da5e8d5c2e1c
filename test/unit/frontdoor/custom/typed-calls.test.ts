/** Typed calls to a project whose app guards the same operations over REST. */

import { describe, expect, it } from 'vitest'

import { operationsOfCalls } from '../../../../src/frontdoor/connect/access.ts'
import { avoidedFinder } from '../../../../src/graph/app/app-patterns.ts'
import { openKeyed } from '../mount/deployment-door.ts'
import { call, openDoor } from '../open-front-door.ts'
import { imports, useApp } from './app-door.ts'

const app = useApp({ app: `${imports}
export const app = new Hono()
const refuse = (c) => c.req.header('x-let-in') ? undefined : c.json({ mine: true }, 418)
app.use('*', async (c, next) => { await next(); c.header('x-seen', 'yes') })
app.use('/threads/count', async (...args) => refuse(args[0]) ?? await args[1]())
app.use('/assistants/*', async (...[c, next]) => refuse(c) ?? await next())
app.use('/store/items', (c) => refuse(c))
app.get('/runs/crons/:id', async (...[c, next]) => refuse(c) ?? await next())
` })

async function opened() {
  const door = await openDoor({ graphs: app.host(), projectHttp: () => ({}) })
  app.servedAt(door.url)
  return door
}

describe('middleware with rest parameters', () => {
  it('wraps built-in routes, and passes requests on', async () => {
    const door = await opened()
    expect(await call(door, 'POST', '/threads/count', {})).toMatchObject({ status: 418,
      json: { mine: true } })
    const { status, text, headers } = await call(door, 'POST', '/threads/count', {}, {
      'x-let-in': '1',
    })
    expect([status, text, headers.get('x-seen')]).toEqual([200, '0', 'yes'])
  })

  it('comes after the guard if the project specifies that', async () => {
    const { door, as } = await openKeyed({}, { graphs: app.host(),
      projectHttp: () => ({ middleware_order: 'auth_first' }) })
    app.servedAt(door.url)
    const acme = await as('acme')
    for (const path of ['/threads/count', '/assistants/search']) {
      expect([path, (await call(door, 'POST', path, {})).status]).toEqual([path, 401])
      expect([path, (await acme('POST', path, {})).status]).toEqual([path, 418])
    }
  })
})

describe('a typed call', () => {
  it('is rejected with 403 if a handler gets its operation over REST only', async () => {
    const door = await opened()
    const codes = async (path: string) =>
      (await call(door, 'POST', `/frontdoor.v1.${path}`, {}, { 'x-let-in': '1' })).json['code']
    for (const path of ['ThreadService/CountThreads', 'AssistantService/SearchAssistants',
      'StoreService/GetItem', 'StoreService/PutItem', 'CronService/GetCron']) {
      expect([path, await codes(path)]).toEqual([path, 'permission_denied'])
    }
    for (const path of ['ThreadService/SearchThreads', 'StoreService/SearchItems',
      'CronService/UpdateCron']) {
      expect([path, await codes(path)]).not.toEqual([path, 'permission_denied'])
    }
  })

  it.each([...operationsOfCalls])('%s avoids a handler of each of its operations', (path, all) => {
    const asked = { method: 'POST', path }
    for (const { method, path: rest } of all) {
      const exact = rest.replaceAll(/:(\w+)/g, 'some-$1')
      for (const pattern of [rest, exact, `${rest.split('/').slice(0, 2).join('/')}/*`]) {
        for (const  of of['ALL', method]) {
          const isAvoided = avoidedFinder([{ method: of, path: pattern, isMiddleware: false,
            isAmbiguous: true }])
          expect([of, pattern, isAvoided(asked, all)]).toEqual([of, pattern, true])
        }
      }
    }
    expect(avoidedFinder([{ method: 'ALL', path: '/elsewhere/*', isMiddleware: true }])(asked, all))
      .toBe(false)
  })
})
