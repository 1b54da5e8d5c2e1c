/**
 * The powers of a server, attacked from each place where code or callers of others are. Each attack
 * is refused, on servers of root and of an ordinary user. docs/operate/isolation.md lists them.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ownCode } from '../../../src/graph/index.ts'
import { requireReadable } from '../../../src/server/graphs-users/default-users.ts'
import { usersOfTest } from '../../support/os-users.ts'
import { isNight } from '../../support/repeats.ts'
import { attackedServer } from './attacked-server.ts'
import type { AttackedServer, ServerKind } from './attacked-server.ts'
import { codeAttacks, codePlaces, requests } from './attacks.ts'
import type { CodePlace } from './attacks.ts'

const isRoot = process.getuid?.() === 0
const { first: user } = usersOfTest() ?? {}
const otherUsersRead = canOthersRead()

/** A server, and the user as whom the code of its deployments runs. */
interface Kind extends ServerKind {
  readonly runsAs: (user: number) => boolean
}

const kinds: Readonly<Record<string, Kind | undefined>> = {
  'a server of root that chooses users': isRoot && otherUsersRead
    ? { runsAs: (id) => id >= 80_000 && id < 100_000 }
    : undefined,
  'a server of root without users': isRoot
    ? { args: ['--graphs-users', 'off'], runsAs: (id) => id === 0 }
    : undefined,
  'a server of an ordinary user': isRoot
    ? user === undefined || !otherUsersRead ? undefined : { user, runsAs: (id) => id === user }
    : { runsAs: (id) => id === process.getuid?.() },
}

/** False for a checkout that only root can read: no other user can run the server then. */
function canOthersRead(): boolean {
  try {
    requireReadable([process.execPath, ...ownCode()], [])
    return true
  } catch {
    return false
  }
}

const attacksFrom = (place: CodePlace) =>
  codeAttacks.filter(({ places = codePlaces }) => places.includes(place))

const attackedKinds = Object.entries(kinds).flatMap(([name, kind]) => kind ? [{ name, kind }] : [])

describe.each(attackedKinds)(
  'On $name',
  ({ name, kind }) => {
    let attacked: AttackedServer
    beforeAll(async () => {
      attacked = await attackedServer(kind)
    }, 300_000)
    afterAll(() => attacked?.close())

    // The guards of replays do not depend on the user of the server.
    it.runIf(isNight || name === attackedKinds[0]?.name)('replayed code is refused every power',
      async () => {
        const attacks = attacksFrom('replay')
        const results = await attacked.inReplays(attacks.map(({ code }) => code(attacked.target)))
        const open = attacks.flatMap(({ power, name }, at) =>
          results[at] === 'refused' ? [] : [`${power}: ${name}: ${results[at]}`]
        )
        expect(open).toEqual([])
        expect(attacked.reached).toEqual([])
      }, 300_000)

    it('code runs as the expected user, and may do harmless things', async () => {
      const [, ranAs] = /^open: (\d+)$/.exec(await attacked.inGraph('process.getuid()') ?? '') ?? []
      expect(kind.runsAs(Number(ranAs))).toBe(true)
      expect(await attacked.inApp('process.getuid()')).toBe(`open: ${ranAs}`)
    }, 60_000)

    it.each(attacksFrom('graph process'))('a graph process is refused $power: $name',
      async ({ code }) => {
        expect(await attacked.inGraph(code(attacked.target))).toBe('refused')
      }, 60_000)

    it.each(attacksFrom('app thread'))('an app thread is refused $power: $name',
      async ({ code }) => {
        expect(await attacked.inApp(code(attacked.target))).toBe('refused')
      }, 60_000)

    it.each([['a page without an origin', { origin: 'null' }], ['a user of a login without a key', {
      authorization: 'Bearer ann',
    }], ['a caller with a made-up key', {
      'x-api-key': `hdl_us_${'0'.repeat(16)}_${'x'.repeat(43)}`,
    }]])(
      '%s is refused every request',
      async (_, headers) => {
        const { server, target } = attacked
        const open: string[] = []
        for (const { method, path, body } of requests) {
          const { status } = await fetch(`${server.url}${path(target)}`, { method,
            headers: { ...headers, ...body && { 'content-type': 'application/json' } },
            ...body && { body: JSON.stringify(body) } })
          if (status !== 401 && status !== 403) open.push(`${method} ${path(target)}: ${status}`)
        }
        expect(open).toEqual([])
      },
    )

    it('nothing has changed: the server lives, and no key and no connection was made', async () => {
      // Programs of the same user that no guard watches can send this signal.
      process.kill(attacked.server.pid, 'SIGUSR1')
      expect((await fetch(`${attacked.server.url}/ok`)).status).toBe(200)
      expect(await attacked.maker.keyAdmin.list('other')).toHaveLength(1)
      expect(attacked.reached).not.toContain('Unix socket')
      await expect(fetch('http://127.0.0.1:9229/json')).rejects.toThrow('fetch failed')
    })
  },
)
