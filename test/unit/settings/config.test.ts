/** Settings: which source wins, what is refused, and with which sentence. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { resolveSettings, SettingsError } from '../../../src/settings/config.ts'
import { ipRange } from '../../../src/settings/ip-address.ts'
import { knownSettings } from '../../../src/settings/known-settings.ts'
import type { SettingsSource } from '../../../src/settings/settings-reader.ts'

const source: SettingsSource = { options: {}, environment: {}, folder: '/base',
  starter: '/heddle/starter/langgraph.json' }

const resolved = (more: Partial<SettingsSource>) => resolveSettings({ ...source, ...more })

function mistakes(more: Partial<SettingsSource>): string {
  try {
    resolved(more)
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError)
    return (error as Error).message
  }
  return expect.unreachable()
}

describe('settings', () => {
  it('have defaults that serve the starter on this machine only', () => {
    expect(resolved({})).toEqual({
      config: '/heddle/starter/langgraph.json',
      dataDirectory: '/heddle/starter/.heddle',
      port: 2024,
      platformPort: undefined,
      hubHandle: new Map([['local', 'local']]),
      portIsChosen: false,
      host: '127.0.0.1',
      insecureListen: false,
      allowOrigins: [],
      allowHosts: [],
      deploymentsDomain: undefined,
      deploymentsHosts: [],
      graphsUsers: undefined,
      ignoreAuth: false,
      trustTenants: false,
      reload: true,
      egressAllow: [],
      localModels: ['http://127.0.0.1:11434', 'http://127.0.0.1:1234'],
      secretsKey: null,
      egressProxy: undefined,
      inRegion: false,
      auth: 'none',
      sessions: null,
      region: 'us',
      regionUrls: { us: '', eu: '' },
      workers: expect.any(Number),
      workerHeapMb: undefined,
      graphsMemoryMb: undefined,
      builds: true,
      revisionsDiskBytes: 5_120 * 1024 * 1024,
      graphEnv: ['*'],
      graphConfig: new Map(),
      streamEnd: true,
      appTimeoutMs: 10_000,
      mcp: true,
      agents: { tools: [], key: null },
      drainMs: 5_000,
      logLevel: 'info',
      cassandra: null,
      metrics: null,
      tracing: null,
      studio: {},
      ownTraces: 'runs',
      ownTracesRatio: 1,
      record: null,
      traces: { diskBytes: 10 * 1024 ** 3, tenantBytes: Infinity, indexesWords: true },
      limits: false,
      billing: false,
      limitOverrides: null,
      trustedProxies: [],
      userProxies: [],
      quotas: { bytes: Infinity, threads: Infinity, runs: 10_000, delayedRuns: 100_000,
        crons: 10_000, streams: 5_000 },
      modelQuota: { calls: 50_000, tokens: 100_000_000 },
      connectionsPerAddress: 1_000,
    })
  })

  it('bound bytes and threads by quotas once tenants share a server; 0 is any number', () => {
    const { quotas } = resolved({ options: { auth: 'keys', quotaThreads: '0', quotaRuns: '7' } })
    expect(quotas).toMatchObject({ bytes: 102_400 * 2 ** 20, threads: Infinity, runs: 7 })
  })

  it('are taken from options first, and then from the environment', () => {
    const environment = { PORT: '80', HEDDLE_CONFIG: 'a', HEDDLE_WORKERS: '3', HEDDLE_RELOAD: 'no' }
    const options = { port: '8080', reload: true }
    expect(resolved({ environment, options }))
      .toMatchObject({ port: 8080, config: '/base/a', workers: 3, reload: true })
  })

  it('keep the data in the folder of the project, whether that or its file is named', () => {
    expect(resolved({ options: { config: 'p/langgraph.json' } }).dataDirectory)
      .toBe('/base/p/.heddle')
    expect(resolved({ options: { config: '/p' } }).dataDirectory).toBe('/p/.heddle')
    expect(resolved({ options: { config: '/p', data: 'd' } }).dataDirectory).toBe('/base/d')
  })

  it('are frozen', () => {
    expect(Object.isFrozen(resolved({}))).toBe(true)
    expect(Object.isFrozen(resolved({}).allowOrigins)).toBe(true)
  })

  it('treat an empty text as not set', () => {
    expect(resolved({ options: { data: '' }, environment: { PORT: '', HEDDLE_DATA_DIR: '/d' } }))
      .toMatchObject({ port: 2024, dataDirectory: '/d' })
  })

  it('find models on this machine only where nobody else reaches the server', () => {
    const localModels = 'http://localhost:1, http://[::1]:2'
    expect(resolved({ options: { localModels } }).localModels)
      .toEqual(['http://localhost:1', 'http://[::1]:2'])
    for (const options of [{ localModels: 'off' }, { auth: 'keys' }, { host: '0.0.0.0',
      insecureListen: 'yes' }]) {
      expect(resolved({ options }).localModels).toEqual([])
    }
    for (const origin of ['http://10.0.0.1:1', 'http://localhost:1/v1', 'ftp://localhost', 'a']) {
      expect(mistakes({ options: { localModels: origin } })).toMatch(/^--local-models .* must be/)
    }
  })

  it('have the egress exceptions and proxy', () => {
    const options = { egressProxy: 'http://u:p@p:1',
      egressAllow: '10.1.0.0/16, ::1,hooks.internal' }
    expect(resolved({ options })).toMatchObject({ egressProxy: 'http://u:p@p:1',
      egressAllow: ['10.1.0.0/16', '::1', 'hooks.internal'] })
    for (const target of ['10.0.0.0/33', '10.0.0.0/', '::/129', 'a b', 'http://a', '10.0.0.0/8/8',
      'a/8']) {
      expect(mistakes({ options: { egressAllow: target } })).toMatch(/^--egress-allow .* must be/)
    }
    const proxy = mistakes({ options: { egressProxy: 'socks://user:secret@proxy' } })
    expect(proxy).toMatch(/^--egress-proxy .* must be an http\(s\) URL/)
    expect(proxy).not.toContain('secret')
  })

  it('have the region, and whether it was given', () => {
    expect(resolved({ options: { region: 'eu' } })).toMatchObject({ region: 'eu', inRegion: true })
    expect(mistakes({ options: { region: 'mars' } })).toContain('must be one of us, eu')
  })

  it('serve metrics on a port of their own if one is given, by default for this machine', () => {
    expect(resolved({ options: { metricsPort: '0' } }).metrics)
      .toEqual({ host: '127.0.0.1', port: 0 })
    const environment = { HEDDLE_METRICS_HOST: '0.0.0.0' }
    expect(resolved({ environment }).metrics).toBeNull()
    expect(resolved({ environment, options: { metricsPort: '9464' } }).metrics)
      .toEqual({ host: '0.0.0.0', port: 9464 })
  })

  it('serve the page for another server if its URL is given', () => {
    expect(resolved({ options: { studio: 'off' } }).studio).toBeNull()
    expect(resolved({ options: { studio: 'on' } }).studio).toEqual({})
    expect(resolved({ environment: { HEDDLE_STUDIO: 'https://a.example' } }).studio)
      .toEqual({ apiUrl: 'https://a.example' })
    expect(mistakes({ options: { studio: 'maybe' } })).toContain(
      'must be on, off or an http(s) URL, not "maybe"',
    )
  })

  it('name the key of secrets by a file', () => {
    expect(resolved({ options: { secretsKey: 'k' } }).secretsKey).toMatch(/^\/.*\/k$/)
  })

  it('send traces if the environment names a collector', () => {
    const tracingOf = (environment: Record<string, string>) => resolved({ environment }).tracing
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }
    expect(tracingOf(endpoint)).toEqual({ ratio: 1 })
    expect(tracingOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a/v1/traces' }))
      .toEqual({ ratio: 1 })
    expect(tracingOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull()
    expect(tracingOf({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull()
    expect(tracingOf({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' })).toBeNull()
    expect(tracingOf({ ...endpoint, OTEL_TRACES_SAMPLER: 'parentbased_always_off' }))
      .toEqual({ ratio: 0 })
    const sampler = { ...endpoint, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }
    expect(tracingOf({ ...sampler, OTEL_TRACES_SAMPLER_ARG: '0.25' })).toEqual({ ratio: 0.25 })
    expect(mistakes({ environment: { ...sampler, OTEL_TRACES_SAMPLER_ARG: 'some' } }))
      .toContain('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "some".')
  })

  it('name each mistake in a sentence of its own', () => {
    expect(mistakes({
      options: { port: '65536', logLevel: 'loud', allowOrigin: ['https://a.org', 'a.org/x'] },
      environment: { HEDDLE_DRAIN_MS: '-1', HEDDLE_RELOAD: 'maybe' },
    }).split('\n').toSorted()).toEqual([
      '--allow-origin (or HEDDLE_ALLOW_ORIGIN) must be an origin like https://example.org, ' +
      'not "a.org/x".',
      '--drain-ms (or HEDDLE_DRAIN_MS) must be a whole number from 0 to 3600000, not "-1".',
      '--log-level (or HEDDLE_LOG_LEVEL) must be one of debug, info, warn, error, silent, ' +
      'not "loud".',
      '--no-reload (or HEDDLE_RELOAD) must be yes or no, not "maybe".',
      '--port (or PORT) must be a whole number from 0 to 65535, not "65536".',
    ])
  })

  it.each(['1.5', '0x10', ' 1', '1e3', 'NaN'])('refuse %s as a number', (workers) => {
    expect(mistakes({ options: { workers } })).toContain('--workers')
  })

  it.each(['2', '-1', '.', '1e-1', '1.5', '0x1'])('refuse %s as a share', (ownTracesRatio) => {
    expect(mistakes({ options: { ownTracesRatio } })).toContain('must be a number from 0 to 1')
  })

  it.each(['10', '101%', '100.5%', 'yes'])('refuse %s as a share of runs', (record) => {
    expect(mistakes({ options: { record } })).toContain('must be off, all or a share of runs')
  })

  it.each(['off', 'all', '100%', '2.5%'])('take %s as a share of runs', (record) => {
    expect(resolved({ options: { record } })).toMatchObject({ record })
  })

  it.each([['0', 0], ['0.25', 0.25], ['1.0', 1]])('take %s as a share', (ownTracesRatio, share) => {
    expect(resolved({ options: { ownTracesRatio } })).toMatchObject({ ownTracesRatio: share })
  })

  it('refuse an address that others can reach, unless that is confirmed', () => {
    expect(mistakes({ options: { host: '0.0.0.0' } })).toContain('--insecure-listen')
    expect(resolved({ options: { host: '0.0.0.0', insecureListen: true } }).host).toBe('0.0.0.0')
    expect(resolved({ environment: { HEDDLE_HOST: '::', HEDDLE_INSECURE_LISTEN: 'yes' } }).host)
      .toBe('::')
  })

  it('read a list of origins from one variable', () => {
    const environment = { HEDDLE_ALLOW_ORIGIN: 'https://a.org, http://b.org:8080' }
    expect(resolved({ environment }).allowOrigins).toEqual(['https://a.org', 'http://b.org:8080'])
    expect(resolved({ options: { allowOrigin: ['*'] }, environment }).allowOrigins).toEqual(['*'])
  })

  it('read names of hosts, without ports', () => {
    const environment = { HEDDLE_ALLOW_HOST: 'heddle-1, heddle.internal,10.0.0.1' }
    expect(resolved({ environment }).allowHosts)
      .toEqual(['heddle-1', 'heddle.internal', '10.0.0.1'])
    expect(resolved({ options: { allowHost: ['a,b', '*'] } }).allowHosts).toEqual(['a', 'b', '*'])
    for (const allowHost of [['a:80'], ['http://a'], ['*.a'], ['a/b']]) {
      expect(mistakes({ options: { allowHost } })).toContain('without a port')
    }
  })

  it('read names and patterns of hosts of deployments', () => {
    const environment = { HEDDLE_DEPLOYMENTS_HOSTS: 'shop.example.org, *.apps.example.org' }
    expect(resolved({ environment }).deploymentsHosts)
      .toEqual(['shop.example.org', '*.apps.example.org'])
    for (const deploymentsHosts of ['*', 'shop', '*shop.org', 'a.*.org', 'a.org:80']) {
      expect(mistakes({ options: { deploymentsHosts } })).toContain('*.example.org')
    }
  })

  it('limit requests if a region is given, unless limits are off', () => {
    expect(resolved({ options: { region: 'eu' } })).toMatchObject({ region: 'eu', limits: true })
    expect(resolved({ environment: { HEDDLE_REGION: 'us' } }).limits).toBe(true)
    expect(resolved({ options: { region: 'us', limits: 'off' } }).limits).toBe(false)
    expect(resolved({ environment: { HEDDLE_LIMITS: 'on' } }).limits).toBe(true)
    expect(resolved({ options: { limitOverrides: 'l.json' } }).limitOverrides).toBe('/base/l.json')
    expect(mistakes({ options: { region: 'mars', limits: 'perhaps' } }).split('\n')).toEqual([
      '--region (or HEDDLE_REGION) must be one of us, eu, not "mars".',
      '--limits (or HEDDLE_LIMITS) must be one of on, off, not "perhaps".',
    ])
  })

  it('have proxies as addresses and ranges', () => {
    const { trustedProxies, userProxies } = resolved({
      options: { trustedProxies: '10.0.0.0/8, ::1', userProxies: '192.0.2.1' },
    })
    expect(trustedProxies).toEqual([ipRange('10.0.0.0/8'), ipRange('::1')])
    expect(userProxies).toEqual([ipRange('192.0.2.1')])
    const options = { trustedProxies: 'everybody', userProxies: '::1,10.0.0.0/33' }
    expect(mistakes({ options }).split('\n')).toEqual([
      '--trusted-proxies (or HEDDLE_TRUSTED_PROXIES) must list addresses or ranges like ' +
      '10.0.0.0/8, not "everybody".',
      '--user-proxies (or HEDDLE_USER_PROXIES) must list addresses or ranges like 10.0.0.0/8, ' +
      'not "10.0.0.0/33".',
    ])
  })

  it('need a certificate and its key together', () => {
    const cassandra = { store: 'cassandra', localDatacenter: 'us' }
    for (const one of [{ tlsCert: 'cert.pem' }, { tlsKey: 'key.pem' }]) {
      expect(mistakes({ options: { ...cassandra, ...one } }))
        .toBe('--tls-cert and --tls-key belong together: give both or none.')
    }
    expect(resolved({ options: { ...cassandra, tlsCert: 'a', tlsKey: 'b' } }).cassandra!.tls)
      .toMatchObject({ cert: expect.stringMatching(/a$/) as string })
  })

  it('bill only if that is on, and only in the region us', () => {
    expect(resolved({ options: { region: 'us' } }).billing).toBe(false)
    expect(resolved({ options: { billing: 'on' } }).billing).toBe(true)
    expect(resolved({ environment: { HEDDLE_BILLING: 'on', HEDDLE_REGION: 'us' } }).billing)
      .toBe(true)
    for (const auth of ['none', 'keys']) {
      expect(mistakes({ options: { billing: 'on', region: 'eu', auth } })).toBe(
        '--billing on (or HEDDLE_BILLING) is for the region us, where alone billing records may ' +
          'be kept: turn it off in the region eu.',
      )
    }
  })

  it('are read from a file if they are secret and their variable with _FILE names one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'heddle-secrets-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const secrets = Object.entries(knownSettings).filter(([, { isSecret }]) => isSecret)
    expect(secrets.map(([name]) => name))
      .toEqual(['egressProxy', 'cassandraPassword', 'clusterSecret'])
    const given = (name: string) => `http://${name}`
    const environment = Object.fromEntries(secrets.map(([name, { variable }]) => {
      writeFileSync(join(folder, name), `${given(name)}\n`)
      return [`${variable}_FILE`, name]
    }))
    const options = { store: 'cassandra', localDatacenter: 'dc' }
    expect(resolved({ environment, folder, options })).toMatchObject({
      egressProxy: given('egressProxy'),
      cassandra: { password: given('cassandraPassword'),
        member: { secret: given('clusterSecret') } },
    })
    // The variable itself wins, and other settings have no files.
    expect(
      resolved({ folder, options,
        environment: { ...environment, HEDDLE_CLUSTER_SECRET: 'typed',
          HEDDLE_KEYSPACE_FILE: 'nowhere' } }),
    )
      .toMatchObject({ cassandra: { keyspace: 'heddle', member: { secret: 'typed' } } })
    expect(mistakes({ folder, options, environment: { HEDDLE_CLUSTER_SECRET_FILE: 'nowhere' } }))
      .toMatch(/^HEDDLE_CLUSTER_SECRET_FILE: nowhere cannot be read: ENOENT/)
  })

  it('name the variables that graphs see', () => {
    expect(resolved({ options: { graphEnv: 'A_KEY, MY_*' } }).graphEnv).toEqual(['A_KEY', 'MY_*'])
    expect(mistakes({ options: { graphEnv: 'A=1' } })).toMatch(/^--graph-env .* must list names/)
  })

  it('have the config and context that graphs begin with', () => {
    const LANGGRAPH_CONFIG =
      '{"a": {"configurable": {"m": 1}, "tags": ["t"], "context": 7}, "b": {}}'
    expect(resolved({ environment: { LANGGRAPH_CONFIG } }).graphConfig).toEqual(new Map([
      ['a', { config: { configurable: { m: 1 }, tags: ['t'] }, context: 7 }],
      ['b', { config: {}, context: {} }],
    ]))
    const faults = (value: string) =>
      mistakes({ environment: { LANGGRAPH_CONFIG: value } })
        .replaceAll('--graph-config (or LANGGRAPH_CONFIG) ', '').split('\n')
    for (const value of ['secret', '[]', 'null', '"secret"']) {
      expect(faults(value)).toEqual([expect.stringMatching(/^must be a JSON object .*[^t]\.$/)])
    }
    const wrong = { a: 'secret', b: { tags: 'secret', recursion_limit: 0, configurable: [] },
      c: { max_concurrency: 1.5, metadata: null, constructor: 1 } }
    expect(faults(JSON.stringify(wrong))).toEqual([
      'must have an object at a.',
      'must have a list of texts at b.tags.',
      'must have a whole number from 1 at b.recursion_limit.',
      'must have an object at b.configurable.',
      'must have a whole number from 1 at c.max_concurrency.',
      'must have an object at c.metadata.',
    ])
  })

  it('take a domain of deployments', () => {
    const given = (deploymentsDomain: string) => ({ options: { deploymentsDomain } })
    expect(resolved(given('agents.example.org')).deploymentsDomain).toBe('agents.example.org')
    for (const wrong of ['https://a.b', 'a.b:80', '*.a.b', 'A.b', '.a.b']) {
      expect(mistakes(given(wrong))).toMatch(/must be a domain .*, not "/)
      expect(mistakes(given(wrong))).toContain(`"${wrong}"`)
    }
  })

  it('take a range of users, never with root in it', () => {
    const given = (graphsUsers: string) => ({ options: { graphsUsers } })
    expect(resolved(given('70000-70099')).graphsUsers).toEqual({ first: 70_000, last: 70_099 })
    expect(resolved(given('7-7')).graphsUsers).toEqual({ first: 7, last: 7 })
    expect(resolved(given('off')).graphsUsers).toBe('off')
    for (const wrong of ['0-9', '9-7', '7', '1-10001', '-1-5', 'a-b', '2147483646-2147483647']) {
      expect(mistakes(given(wrong))).toContain('must be a range of at most 10000 ids')
    }
  })

  it('are few, and each has a sentence that explains it', () => {
    expect(Object.keys(knownSettings).length).toBeLessThanOrEqual(83)
    for (const { message } of Object.values(knownSettings)) {
      expect(message).toMatch(/^[A-Z].{20,}\.$/)
    }
  })

  it('have the names of their flags', () => {
    for (const [name, { flags }] of Object.entries(knownSettings)) {
      const flag = flags.split(' ')[0]!.replace(/^--(no-)?/, '')
      expect(flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())).toBe(name)
    }
  })
})
