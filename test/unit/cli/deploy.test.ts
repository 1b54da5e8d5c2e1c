/** The files in deploy/ agree with each other and with the program. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Script } from 'node:vm'

import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

import { closedRanges, globalRange } from '../../../src/egress/address-rules.ts'
import { knownSettings } from '../../../src/settings/known-settings.ts'
import { regions } from '../../../src/settings/region.ts'
import { migrations } from '../../../src/store/cassandra/schema/migration.ts'

const deploy = resolve(import.meta.dirname, '../../../deploy')
const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8')
const operate = join(deploy, '../docs/operate')
const pageOf = (name: string) => readFileSync(join(operate, name), 'utf8')
const pages = readdirSync(operate).filter((name) => name.endsWith('.md')).map(pageOf)

interface Service {
  readonly profiles?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly healthcheck?: { readonly test: readonly unknown[] }
  readonly stop_grace_period?: string
  readonly entrypoint?: readonly string[]
}
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const services = Object.entries(compose.services)
const members = services.filter(([name]) => name.startsWith('heddle'))

describe('the compose file', () => {
  it('has one node and one member, three of each by profile', () => {
    expect(services.map(([name, { profiles }]) => [name, profiles?.join()])).toEqual([
      ['cassandra-1', undefined],
      ['cassandra-2', 'three'],
      ['cassandra-3', 'three'],
      ['secrets-key', undefined],
      ['heddle-1', undefined],
      ['heddle-2', 'three'],
      ['heddle-3', 'three'],
    ])
  })

  it('waits only for services, and uses only volumes, that it defines', () => {
    for (const [, { depends_on: needed = {}, volumes = [] }] of services) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const isOnce = name === 'secrets-key'
        expect(condition).toBe(isOnce ? 'service_completed_successfully' : 'service_healthy')
        expect(compose.services[name]?.healthcheck === undefined, name).toBe(isOnce)
      }
      for (const volume of volumes) expect(compose.volumes).toHaveProperty(volume.split(':')[0]!)
    }
  })

  it('lets callers call each member by its name, without keys', () => {
    for (const [, { command }] of members) {
      expect(command).toContain(`--allow-host=${members.map(([name]) => name).join()}`)
    }
  })

  it('has health checks whose words are strings, with a valid script', () => {
    for (const [name, { healthcheck }] of services) {
      for (const word of healthcheck?.test ?? []) expect(word, name).toBeTypeOf('string')
    }
    const [, , script] = compose.services['heddle-1']!.healthcheck!.test.slice(1) as string[]
    expect(() => new Script(script!)).not.toThrow()
  })

  it('makes the key of secrets once, which all members have, and files that outlive them', () => {
    const [, , script] = compose.services['secrets-key']!.entrypoint as string[]
    const folder = mkdtempSync(join(tmpdir(), 'heddle-key-'))
    const made = () => {
      execFileSync(process.execPath, ['-e',
        script!.replaceAll('/etc/heddle/secrets/', `${folder}/`)])
      return readFileSync(join(folder, 'key'), 'base64')
    }
    const first = made()
    expect([Buffer.from(first, 'base64').length, made()]).toEqual([32, first])
    rmSync(folder, { recursive: true })
    for (const [name, { command, volumes = [] }] of members) {
      expect(command).toEqual(
        expect.arrayContaining(['--data=/var/lib/heddle', '--builds=on',
          '--secrets-key=/etc/heddle/secrets/key']),
      )
      expect(volumes).toEqual([`${name}:/var/lib/heddle`, 'secrets:/etc/heddle/secrets:ro'])
    }
  })

  it('has only settings of Cassandra that cassandra.md has', () => {
    const options = compose.services['cassandra-1']!.environment!['JVM_EXTRA_OPTS']!
    const set = [...options.matchAll(/-Dcassandra\.settings\.(\w+)=(\w+)/g)]
      .map(([, name, value]) => `${name}: ${value}`)
    // The default sync period contradicts `commitlog_sync: group`, so it must be unset.
    expect(set).toContain('commitlog_sync_period: 0ms')
    for (const setting of set.filter((name) => name !== 'commitlog_sync_period: 0ms')) {
      expect(pageOf('cassandra.md')).toContain(`\`${setting}\``)
    }
  })

  it('publishes one port per member, for this machine only', () => {
    expect(services.flatMap(([, { ports = [] }]) => ports))
      .toEqual(['127.0.0.1:2024:2024', '127.0.0.1:2025:2024', '127.0.0.1:2026:2024'])
    for (const [, { ports }] of members) expect(ports).toHaveLength(1)
  })

  it('gives members enough time to drain', () => {
    for (const [, { command, stop_grace_period: grace }] of members) {
      const drain = command!.find((flag) => flag.startsWith('--drain-ms='))!.split('=')[1]
      expect(Number.parseInt(grace!)).toBeGreaterThanOrEqual(Number(drain) / 1_000 + 10)
    }
  })
})

describe('a step of the tables in Cassandra', () => {
  it('can be lived with by the members that it says', () => {
    for (const [index, { oldest }] of migrations.entries()) {
      expect(oldest).toBeLessThanOrEqual(index + 1)
      // Members that know no more than the first six would not look at anything else.
      if (index < 6) expect(oldest).toBe(index + 1)
    }
  })
})

describe('the page on Cassandra', () => {
  it('has every table', () => {
    const cql = migrations.flatMap(({ statements }) =>
      statements({ keyspace: 'heddle', control: 'heddle_control' })
    ).join('\n')
    const tables = [...cql.matchAll(/CREATE TABLE IF NOT EXISTS \w+\.(\w+)/g)]
    for (const [, table] of tables) expect(pageOf('cassandra.md')).toContain(`\`${table}\``)
    expect(tables.length).toBeGreaterThan(10)
  })
})

describe('the commands in the pages for operators', () => {
  const readme = readFileSync(join(deploy, '../README.md'), 'utf8')
  const known: readonly string[] = Object.values(knownSettings).map(({ flags }) =>
    flags.split(' ')[0]!
  )

  it('start Heddle with settings that it knows', () => {
    const shown = [readme, ...pages].flatMap((page) => [...page.matchAll(/npm start -- (.*)$/gm)])
      .map(([, flags]) => flags!)
    expect(shown.length).toBeGreaterThan(5)
    const flags = [...shown.flatMap((line) => line.match(/--[a-z][a-z0-9-]*/g) ?? []),
      ...members.flatMap(([, { command }]) => command!.map((flag) => flag.split('=')[0]!))]
    expect([...known, '--help']).toEqual(expect.arrayContaining(flags))
  })

  it('run scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(deploy, '../package.json'), 'utf8')) as {
      scripts: object
    }
    const named = [readme, ...pages].flatMap((page) => [...page.matchAll(/npm run ([\w:-]+)/g)])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named.map(([, name]) => name)))
  })

  it('name settings and files that exist', () => {
    const commands = join(operate, '../../src/cli')
    const ofCommands = readdirSync(commands, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        readFileSync(join(commands, name), 'utf8').match(/'--[a-z][a-z0-9-]*/g) ?? []
      )
      .map((flag) => flag.slice(1))
    // The last one is no setting: it turns the engine shortcuts off, for debugging.
    const variables: readonly string[] = [
      ...Object.values(knownSettings).flatMap((
        { variable, isSecret },
      ) => [variable, ...isSecret ? [`${variable}_FILE`] : []]),
      'HEDDLE_URL',
      'HEDDLE_API_KEY',
      'HEDDLE_ENGINE_SHORTCUTS',
    ]
    for (const page of pages) {
      const named = page.match(/`--[a-z][a-z0-9-]*/g)?.map((flag) => flag.slice(1)) ?? []
      expect([...known, ...ofCommands]).toEqual(expect.arrayContaining(named))
      expect(variables).toEqual(expect.arrayContaining(page.match(/HEDDLE_[A-Z0-9_]+/g) ?? []))
      for (const [, path] of page.matchAll(/\]\(((?!http)[^)]+)\)/g)) {
        expect(existsSync(join(operate, path!.split('#')[0]!)), path).toBe(true)
      }
    }
  })
})

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
  readonly podSelector?: object
  readonly namespaceSelector?: object
}
interface Policy {
  readonly spec: {
    readonly podSelector: object
    readonly policyTypes: readonly string[]
    readonly egress?: readonly { readonly to: readonly Peer[] }[]
  }
}

describe('the network policy', () => {
  const manifests = readFileSync(join(deploy, 'kubernetes/network.yaml'), 'utf8')
  const policies = parseAllDocuments(manifests).map((each) => each.toJS() as Policy)
  const outward = policies.filter(({ spec }) => spec.policyTypes.includes('Egress'))
  const peers = outward.flatMap(({ spec }) => spec.egress!.flatMap(({ to }) => to))
  const blocks = peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock] : []))

  it('lets members reach no private address but those of selected pods', () => {
    expect(outward).toHaveLength(1)
    const isV6 = (range: string) => range.includes(':')
    const closed = closedRanges.map(([range]) => range)
    expect(blocks).toEqual([
      { cidr: '0.0.0.0/0', except: closed.filter((range) => !isV6(range)) },
      { cidr: globalRange, except: closed.filter(isV6) },
    ])
    // A rule without peers, or a peer without a selector, would allow everything.
    for (const { to } of outward[0]!.spec.egress!) expect(to.length).toBeGreaterThan(0)
    for (const { ipBlock, ...selectors } of peers) {
      if (!ipBlock) expect(JSON.stringify(selectors)).toContain('matchLabels')
    }
  })

  it('applies to every member, in both directions', () => {
    expect(policies.flatMap(({ spec }) => spec.policyTypes)).toEqual(['Ingress', 'Egress'])
    for (const { spec } of policies) {
      expect(spec.podSelector).toEqual({ matchLabels: { 'app.kubernetes.io/name': 'heddle' } })
    }
  })
})

describe('the lists for firewalls', () => {
  it.each(['us', 'eu'] as const)('have the published addresses of %s', (name) => {
    for (const way of ['egress', 'ingress'] as const) {
      const lines = readFileSync(join(deploy, `firewall/${name}-${way}.txt`), 'utf8').split('\n')
      expect(lines.filter((line) => line !== '' && !line.startsWith('#')))
        .toEqual(regions[name][way].map((address) => `${address}/32`))
    }
  })
})
