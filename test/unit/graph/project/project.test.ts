/** What a langgraph.json may have, and the errors if it is wrong. */

import { mkdir, symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { compileProject } from '../../../../src/graph/project/project-compiler.ts'
import { readProject } from '../../../../src/graph/project/project.ts'
import { areUsual, usualSettings,
  webhookPolicyOf } from '../../../../src/graph/project/project-settings.ts'
import { writeFiles, writeProject } from './project-files.ts'

const withConfig = (config: unknown) =>
  writeProject({ 'langgraph.json': config, 'agent.ts': 'export const graph = 1' })

const refusalOf = async (config: unknown) => {
  const root = await withConfig(config)
  return readProject(root).then(() => 'accepted', (error) => {
    expect(error).toMatchObject({ name: 'HeddleError', code: 'invalid' })
    return (error as Error).message
  })
}

const minimal = { graphs: { agent: './agent.ts:graph' } }

describe('a project', () => {
  it('is the same read from its folder or from its file', async () => {
    const root = await withConfig(minimal)
    const project = await readProject(root)
    expect(project).toEqual({
      root,
      configFile: join(root, 'langgraph.json'),
      graphs: [{ graphId: 'agent', file: join(root, 'agent.ts'), exportName: 'graph',
        description: null }],
      env: {},
      envFile: null,
      store: { ttlMs: 0, refreshOnRead: true },
      ignoreAuth: false,
      warnings: [],
      webhooks: expect.anything(),
      timeToLive: undefined,
      settings: usualSettings,
      ui: { ui: undefined, ui_config: undefined, isOff: false },
    })
    expect(await readProject(join(root, 'langgraph.json'))).toEqual(project)
  })

  it('that is deployed has headers that are made later, of nothing in this process', async () => {
    const headers = { 'x-token': '${{ env.LG_WEBHOOK_NOT_HERE }}' }
    const root = await withConfig({ ...minimal, webhooks: { headers } })
    await expect(readProject(root)).rejects.toThrow('LG_WEBHOOK_NOT_HERE, which is not set')
    const { settings } = await readProject(root, { deployed: true })
    expect(settings.webhooks.headers).toEqual(headers)
    expect(areUsual(settings)).toBe(false)
    expect(webhookPolicyOf(settings, { LG_WEBHOOK_NOT_HERE: 'a' }).webhooks.headers)
      .toEqual({ 'x-token': 'a' })
  })

  it('has its real path as its root, even if a link led to it', async () => {
    const root = await withConfig(minimal)
    await mkdir(join(root, 'links'))
    await symlink(root, join(root, 'links/here'))
    expect((await readProject(join(root, 'links/here'))).root).toBe(root)
  })

  it('may name a graph as a text or as an object with a description', async () => {
    const root = await withConfig({ graphs: {
      first: './agent.ts:graph',
      second: './agent.ts:default',
      'third.one_': './agent.ts:',
      fourth: { path: 'agent.ts:other', description: 'The fourth.', later: true },
    } })
    const { graphs } = await readProject(root)
    expect(graphs.map(({ graphId, exportName, description }) => [graphId, exportName, description]))
      .toEqual([
        ['first', 'graph', null],
        ['second', 'default', null],
        ['third.one_', 'default', null],
        ['fourth', 'other', 'The fourth.'],
      ])
  })

  it('takes variables from an object', async () => {
    const root = await withConfig({ ...minimal, env: { KEY: 'value' } })
    expect((await readProject(root)).env).toEqual({ KEY: 'value' })
  })

  it('takes variables from the dotenv file that it names, and from no other', async () => {
    const files = { '.env': 'HIDDEN=1', 'keys/dev.env': '# keys\nKEY="a value"\nOTHER=2\n' }
    const root = await writeProject({ ...files, 'agent.ts': '',
      'langgraph.json': { ...minimal, env: 'keys/dev.env' } })
    expect(await readProject(root)).toMatchObject(
      { env: { KEY: 'a value', OTHER: '2' }, envFile: join(root, 'keys/dev.env') },
    )
    const silent = await writeProject({ ...files, 'agent.ts': '', 'langgraph.json': minimal })
    expect((await readProject(silent)).env).toEqual({})
  })

  it('may have a byte order mark at the start of its files', async () => {
    const root = await writeProject({ 'agent.ts': '', '.env': '\uFEFFKEY=value',
      'langgraph.json': `\uFEFF${JSON.stringify({ ...minimal, env: '.env' })}` })
    expect((await readProject(root)).env).toEqual({ KEY: 'value' })
  })

  it('is read without a missing dotenv file, with a warning', async () => {
    const root = await withConfig({ ...minimal, env: './settings/.env' })
    expect(await readProject(root)).toMatchObject({ env: {}, envFile: join(root, 'settings/.env'),
      warnings: [
        'env in langgraph.json names "./settings/.env", which cannot be read (there is no ' +
        'such file): continuing without it.',
      ] })
  })

  it('is read without a dotenv file that is a folder or outside of the project', async () => {
    const [folder, outside] = [await withConfig({ ...minimal, env: '.' }),
      await withConfig({ ...minimal, env: '/etc/hostname' })]
    expect((await readProject(folder)).warnings).toEqual([
      expect.stringMatching(/names "\.", which cannot be read \(EISDIR\)/),
    ])
    expect((await readProject(outside, { within: outside })).warnings).toEqual([
      expect.stringMatching(/names "\/etc\/hostname", .* \(it is outside of the project\)/),
    ])
  })

  it('may have every key of the ecosystem', async () => {
    const root = await withConfig({ ...minimal, node_version: '22', dependencies: ['.'],
      dockerfile_lines: [], api_version: '0.7', checkpointer: { ttl: {} }, webhooks: {},
      http: { cors: {}, disable_runs: false, mount_prefix: '' }, store: { ttl: {} },
      unheard_of: null, auth: null })
    expect((await readProject(root)).warnings).toEqual([])
  })

  it('sets where webhooks may go, and their headers', async () => {
    const root = await withConfig({ ...minimal, env: { LG_WEBHOOK_TOKEN: 'secret' },
      http: { disable_webhooks: true },
      webhooks: { headers: { 'X-Token': 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}' },
        url: { require_https: true, allowed_domains: ['*.example.org'], allowed_ports: [443] } } })
    expect((await readProject(root)).webhooks).toEqual({
      offered: false,
      headers: { 'x-token': 'Bearer secret' },
      httpsOnly: true,
      hosts: ['*.example.org'],
      ports: [443],
      longestUrl: 2_048,
      ownRoutes: true,
    })
    expect((await readProject(await withConfig(minimal))).webhooks).toEqual({ offered: true,
      headers: {}, httpsOnly: false, hosts: [], ports: [], longestUrl: 2_048, ownRoutes: true })
  })

  it('sets how long items live, and what embeds them', async () => {
    const root = await withConfig({ ...minimal, store: {
      index: { embed: './agent.ts:embed', dims: 3, fields: ['text'] },
      ttl: { default_ttl: 1.5, refresh_on_read: false, sweep_interval_minutes: 2 },
    } })
    expect((await readProject(root)).store).toEqual({ ttlMs: 90_000, refreshOnRead: false,
      sweepMs: 120_000,
      embedding: { file: join(root, 'agent.ts'), exportName: 'embed', dims: 3, fields: ['text'] } })
    const wrong = { ...minimal, store: { index: { embed: './none.ts:embed', dims: 3 } } }
    expect(await refusalOf(wrong)).toContain('store.index.embed names a file that is not there')
    expect(
      await refusalOf({ ...minimal,
        store: { index: { embed: './agent.ts:e', dims: 0 }, ttl: { default_ttl: '1' } } }),
    ).toMatch(/store.index.dims must be above 0.*store.ttl.default/)
  })

  it('may only use variables in webhook headers that begin with LG_WEBHOOK_', async () => {
    const config = (variable: string) => ({ ...minimal,
      webhooks: { headers: { a: `\${{ env.${variable} }}` } } })
    expect(await refusalOf(config('PATH')))
      .toContain('webhooks.headers.a may only use variables that begin LG_WEBHOOK_')
    expect(await refusalOf(config('LG_WEBHOOK_MISSING')))
      .toContain('webhooks.headers.a uses LG_WEBHOOK_MISSING, which is not set')
    expect(await refusalOf({ ...minimal, webhooks: { url: { allowed_ports: 'all' } } }))
      .toContain('webhooks.url.allowed_ports must be a list of numbers')
  })

  it('says how long threads live', async () => {
    const read = async (ttl: unknown) =>
      (await readProject(await withConfig({ ...minimal, checkpointer: { ttl } }))).timeToLive
    expect(await read({ default_ttl: 60, sweep_interval_minutes: 5, sweep_limit: 1_000 }))
      .toEqual({ strategy: 'delete', minutes: 60 })
    expect(await read({ default_ttl: 0.5, strategy: 'keep_latest' }))
      .toEqual({ strategy: 'keep_latest', minutes: 0.5 })
    expect(await read({ strategy: 'delete' })).toBeUndefined()
    for (const [ttl, message] of [[{ default_ttl: 0 }, 'checkpointer.ttl.default_ttl must be more'],
      [{ default_ttl: 'x' }, 'checkpointer.ttl.default_ttl must be a number'], [{
      strategy: 'none',
    }, 'checkpointer.ttl.strategy must be delete or keep_latest'], [{ sweep_limit: 1.5 },
      'checkpointer.ttl.sweep_limit must be an integer'], [7,
      'checkpointer.ttl must be an object']] as const) {
      expect(await refusalOf({ ...minimal, checkpointer: { ttl } })).toContain(message)
    }
  })

  it('gets a warning for each key that has no effect, and none for what is usual', async () => {
    const root = await withConfig({ ...minimal, dependencies: ['.'], node_version: '22',
      checkpointer: { ttl: { default_ttl: 60 } },
      store: { index: { embed: 'openai:small', dims: 3, filds: ['a'] } },
      http: { corss: { allow_origins: ['*'] }, unused: null,
        configurable_headers: { includes: ['x-colour', 'Authorization'] } },
      heddle: { effects: [{ name: 'charge', once: 'key' }], record: '10%', record_days: 7,
        mask: './agent.ts:graph' }, ui: { agent: './ui.tsx' }, grafs: {}, webhoks: { url: {} } })
    expect((await readProject(root)).warnings.map((warning) => warning.split(' ')[0]))
      .toEqual(['store.index.embed', 'webhoks', 'http.corss', 'store.index.filds',
        'http.configurable_headers'])
  })

  it('names the function that redacts its recordings', async () => {
    const root = await writeProject({ 'agent.ts': 'export const graph = 1',
      'mask.ts': 'export const mask = (text: string) => text',
      'langgraph.json': { ...minimal, heddle: { mask: './mask.ts:mask' } } })
    const project = await readProject(root)
    expect(project.mask).toEqual({ file: join(root, 'mask.ts'), exportName: 'mask' })
    const { mask, sources } = await compileProject(project)
    expect(mask).toMatchObject({ exportName: 'mask', failure: null })
    expect([...sources.keys()]).toContain(mask!.url)
    const missing = { ...minimal, heddle: { mask: './none.ts:mask' } }
    expect(await refusalOf(missing)).toContain('heddle.mask names a file that is not there')
    expect(await refusalOf({ ...minimal, heddle: { mask: 5 } })).toContain('heddle.mask')
  })

  it.each([['all', { ratio: 1, days: 14 }], ['2.5%', { ratio: 0.025, days: 14 }], ['100%', {
    ratio: 1,
    days: 14,
  }], ['off', undefined], ['0%', undefined]])(
    'records %s of its runs',
    async (record, recording) => {
      const root = await withConfig({ ...minimal, heddle: { record } })
      expect((await readProject(root)).recording).toEqual(recording)
    },
  )

  it('records the share that the server was started with, in place of that of the file.',
    async () => {
      const root = await withConfig({ ...minimal, heddle: { record: '10%', record_days: 3 } })
      const project = await readProject(root, { record: 'all' })
      expect(project).toMatchObject({ record: 'all', recording: { ratio: 1, days: 3 } })
      expect((await readProject(root, { record: 'off' })).recording).toBeUndefined()
    })

  it.each(['10', '101%', '-1%', '100.5%', 'yes', 10])('is refused if it records %s',
    async (record) => {
      expect(await refusalOf({ ...minimal, heddle: { record } }))
        .toContain('heddle.record must be "off", "all" or a share of runs like "10%"')
    })

  it.each([0, 366, 1.5, '7'])('is refused if it keeps records for %s days', async (days) => {
    expect(await refusalOf({ ...minimal, heddle: { record: 'all', record_days: days } }))
      .toContain('heddle.record_days must be a number of days from 1 to 365')
  })

  it('is refused for a key that may guard something and is not known', async () => {
    const http = { disable_everything: true, enable_checks: true, disable_none: false }
    expect(await refusalOf({ ...minimal, http, encryption: { path: './e.ts:e' } }))
      .toMatch(/encryption is not known.*http\.disable_everything is not.*http\.enable_checks is/)
    expect(await refusalOf({ ...minimal, http: { disable_none: false } })).toBe('accepted')
    // Meant for `auth`: without it, every caller may do everything.
    for (const key of ['Auth', 'authh', 'authentication', 'authorization']) {
      expect(await refusalOf({ ...minimal, [key]: { path: './a.ts:a' } }))
        .toContain(`${key} is not known, and may guard something`)
    }
    for (const key of ['author', 'authors', 'path', 'oath']) {
      expect(await refusalOf({ ...minimal, [key]: 'x' })).toBe('accepted')
    }
  })

  it('says how its routes are called', async () => {
    const http = { cors: { allow_origins: ['https://a.example'], max_age: 5 },
      mount_prefix: '/agents/', configurable_headers: { include: ['X-Colour'] },
      logging_headers: { excludes: ['x-*'] }, disable_mcp: true, disable_a2a: true }
    const { settings } = await readProject(await withConfig({ ...minimal, http }))
    expect(settings.http).toEqual({ ...http, mount_prefix: '/agents', disable_mcp: undefined,
      disable_a2a: undefined, configurable_headers: { includes: ['x-colour'] } })
    expect(settings.disabled_routes).toEqual(['mcp', 'a2a'])
    const usual = await readProject(
      await withConfig({ ...minimal,
        http: { cors: {}, logging_headers: null, mount_prefix: '/' } }),
    )
    expect(usual.settings).toEqual(usualSettings)
  })

  it.each([
    ['mount_prefix', 'agents', 'must be a path'],
    ['mount_prefix', '/a b', 'must be a path'],
    ['mount_prefix', '/a/../b', 'without dot segments'],
    ['mount_prefix', '/d/shop', 'must not begin with /d/shop'],
    ['mount_prefix', '/threads', 'must not begin with /threads'],
    ['cors', { allow_origin_regex: '(' }, 'is no regular expression'],
    ['cors', { allow_origin_regex: 'a)|(b' }, 'is no regular expression'],
    ['cors', { allow_origin_regex: '(a)\\1' }, 'takes too long'],
    ['cors', { allow_origins: '*' }, 'must be a list of texts'],
    ['cors', { max_age: -1 }, 'must not be below 0'],
    ['logging_headers', { includes: [1] }, 'must be a text'],
    ['middleware_order', 'last', 'must be middleware_first or auth_first'],
  ])('is refused for http.%s %j', async (key, value, message) => {
    expect(await refusalOf({ ...minimal, http: { [key]: value } })).toContain(message)
  })

  it('names its login, which must be there, and may be left out if that is said', async () => {
    const auth = { auth: { path: './auth.ts:auth' } }
    expect(await refusalOf({ ...minimal, ...auth })).toContain('auth.path names a file that is not')
    const ignored = await readProject(await withConfig({ ...minimal, ...auth }), {
      ignoreAuth: true,
    })
    expect(ignored.settings.auth).toBeUndefined()
    expect(ignored.warnings.map((warning) => warning.split(' ')[0])).toEqual(['auth'])
  })

  it.each([
    [{ auth: { path: './auth.ts:auth', guard_all: true } }, 'auth has no key "guard_all"'],
    [{ auth: { path: './auth.ts:auth', cache: { keys: [] } } }, 'auth.cache has no key "keys"'],
    [{ heddle: { effects: [{ name: 'mail', onse: 'key' }] } },
      'heddle.effects.0 has no key "onse"'],
    [{ heddle: { check: { graph: 'agent', input: {}, expects: 1 } } },
      'heddle.check has no key "expects"'],
  ])('is refused with the name of an unknown key: %j', async (more, message) => {
    expect(await refusalOf({ ...minimal, ...more })).toContain(message)
  })

  it('names its app, which must be there', async () => {
    const http = { app: './src/app.ts:routes', middleware_order: 'auth_first',
      enable_custom_route_auth: true }
    expect(await refusalOf({ ...minimal, http })).toContain('http.app names a file that is not')
    expect(await refusalOf({ ...minimal, http: { app: './app.py:app' } }))
      .toContain('http.app names a file that is neither TypeScript nor JavaScript')
    const root = await withConfig({ ...minimal, http })
    await writeFiles(root, { 'src/app.ts': 'export const routes = 1' })
    const project = await readProject(root)
    expect(project.app).toEqual({ field: 'http.app', file: join(root, 'src/app.ts'),
      exportName: 'routes' })
    expect(project.settings.http).toEqual(http)
    expect((await compileProject(project)).app).toMatchObject({ exportName: 'routes',
      failure: null })
  })

  it('says which routes are not served', async () => {
    const http = { disable_assistants: true, disable_threads: false, disable_runs: null,
      disable_store: true, disable_meta: true }
    const read = async (http: object) =>
      (await readProject(await withConfig({ ...minimal, http }))).settings
    expect(await read(http)).toMatchObject({ disabled_routes: ['assistants', 'store', 'meta'] })
    expect(await read({ disable_threads: false })).not.toHaveProperty('disabled_routes')
    expect(await refusalOf({ ...minimal, http: { disable_runs: 'yes' } }))
      .toContain('http.disable_runs must be true or false')
  })
})

describe('a graph id', () => {
  const project = (graphId: string) =>
    writeProject({ 'agent.ts': '',
      'langgraph.json': { graphs: { [graphId]: './agent.ts:graph' } } })

  it.each(['a b', 'team: agent', 'Größe', '代理', 'агент', 'a?b#c%2F', '"quoted"', 'x.y-z_0', '…',
    '👩‍💻', 'x'.repeat(128), 'constructor'])('may be %s', async (graphId) => {
      expect((await readProject(await project(graphId))).graphs[0]).toMatchObject({ graphId })
    })

  it.each(['', ' ', ' a', 'a ', 'a/b', 'a\\b', 'a\nb', '\u0000', '.', '..', 'x'.repeat(129)])(
    'may not be %j',
    async (graphId) => {
      await expect(readProject(await project(graphId))).rejects.toMatchObject({ code: 'invalid',
        message: expect.stringMatching('is no graph id') })
    },
  )
})

describe('a project that is not valid', () => {
  it('is refused with every wrong field at once', async () => {
    const refusal = await refusalOf({
      graphs: {
        number: 1,
        bare: './agent.ts',
        python: './agent.py:graph',
        'a/b': './agent.ts:graph',
        inner: { path: 7 },
        described: { path: './agent.ts:graph', description: 8 },
      },
      env: ['KEY=value'],
    })
    expect(refusal.split('; ').map((part) => part.replace(/.* is not valid: /, ''))).toEqual([
      expect.stringMatching(/^graphs.number must be "/),
      expect.stringMatching(/^graphs.bare must name a file and its export/),
      expect.stringMatching(/^graphs.python names a file that is neither.*LangGraph.js, no Python/),
      expect.stringMatching(/^graphs.a\/b is no graph id/),
      expect.stringMatching(/^graphs.inner must name a file and its export/),
      expect.stringMatching(/^graphs.described.description /),
      expect.stringMatching(/^env must be an object of texts or the path of a dotenv file\.$/),
    ])
  })

  it.each([
    ['no JSON', '{"graphs": ', /is not JSON: /],
    ['not an object', [], /must be an object/],
    ['without graphs', {}, /graphs must be an object/],
    ['with graphs in a list', { graphs: ['./agent.ts:graph'] }, /graphs must be an object/],
    ['with no graph', { graphs: {} }, /graphs must name at least one graph/],
    ['with a variable that is no text', { ...minimal, env: { PORT: 1 } }, /env.PORT must be a t/],
    ['with files that are not there', { graphs: { a: './b.ts:c', d: './e.ts:f' } },
      /graphs.a names a file that is not there: .*; graphs.d names/],
  ])('is refused if it is %s', async (_, config, message) => {
    expect(await refusalOf(config)).toMatch(message)
  })

  it('is refused if there is no langgraph.json at the path', async () => {
    const root = await writeProject({ 'agent.ts': '' })
    await expect(readProject(root)).rejects.toThrow(/There is no project at .*langgraph.json: name/)
    await expect(readProject(join(root, 'away'))).rejects.toMatchObject({ code: 'invalid' })
    await expect(readProject(join(root, 'agent.ts'))).rejects
      .toThrow(/^The name of .*agent.ts does not end in .json: name a langgraph.json or a folder/)
  })

  it('is refused in one sentence if its file cannot be read', async () => {
    const root = await withConfig(minimal)
    // Larger than can be read at once, also by root; sparse, so it takes no room on the disk.
    await truncate(join(root, 'langgraph.json'), 2 ** 31)
    await expect(readProject(root)).rejects.toMatchObject(
      { code: 'invalid', message: expect.stringMatching(/langgraph.json cannot be read: /) },
    )
  })
})
