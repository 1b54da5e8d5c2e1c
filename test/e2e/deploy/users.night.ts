/** Deployments whose code runs as users of their own: what that closes, as the page says. */

import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openKeyMaker } from '../../support/keys.ts'
import { usersOfTest } from '../../support/os-users.ts'
import { failToStart, oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { Built, DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

const heddle = resolve(import.meta.dirname, '../../..')
const found = usersOfTest()
const { first } = found ?? { first: 0 }
const last = first + 1
const users = ['--graphs-users', `${first}-${last}`]

/** A deployment, its process, and the user of that. */
interface Deployed {
  readonly target: DeployTarget
  readonly id: string
  readonly pid: number
  readonly user: number
}

let project: DeployedProject
let built: Built
let server: ServerProcess
let dataDir: string
let shop: Deployed
let desk: Deployed

/** Only root may start processes of other users: a server that is not refuses to start. */
describe.skipIf(found === undefined)('With users of their own', () => {
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'heddle-users-'))
    chmodSync(dataDir, 0o755)
    ;[project, server] = await Promise.all([deployedProject(),
      startServer({ dataDir, args: [...oneWorker, ...users, '--auth', 'keys'] })])
    built = await project.built(replying(
      'return say(await tried(state.messages.at(-1).content))',
      `const tried = async (code) => {
        try { return await eval(code) } catch (error) { return error.code ?? error.message }
      }`,
    ))
    shop = await deployed('shop', 'acme')
    desk = await deployed('desk', 'other')
    const sealed = await shop.target.own('PUT', '/secrets/TOKEN', { value: 'a', restart: false })
    expect(sealed.status).toBeLessThan(300)
  })

  afterAll(async () => {
    await server?.close()
    await project?.remove()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('two tenants deploy, and each process has one of the users and no rights', () => {
    expect([shop.user, desk.user].toSorted()).toEqual([first, last])
    for (const { pid, user } of [shop, desk]) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const ids = Array.from({ length: 4 }, () => user).join('\t')
      expect(status).toContain(`\nUid:\t${ids}\nGid:\t${ids}\n`)
      expect(status).toMatch(/\nGroups:[ \t]*\n/)
      for (const set of ['CapPrm', 'CapEff', 'CapAmb']) {
        expect(status).toContain(`\n${set}:\t0000000000000000\n`)
      }
    }
  })

  it('what the server makes from now on is closed to others', () => {
    expect(readFileSync(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Umask:\t\d+7$/m)
  })

  it('code has a home, which is its compile cache', async () => {
    expect(await shop.target.answer("import('node:os').then((os) => os.homedir())"))
      .toBe(`${dataDir}/revisions/compiled/${shop.id}`)
  })

  it('code may not signal the server or another deployment', async () => {
    expect(await shop.target.answer('process.kill(process.ppid, 0)')).toBe('EPERM')
    expect(await shop.target.answer(`process.kill(${desk.pid}, 0)`)).toBe('EPERM')
    expect(await shop.target.answer('process.kill(process.pid, 0)')).toBe('true')
  })

  it('nothing is open to code that Node stops nowhere, and all is to the users that it belongs to',
    async () => {
      const [ofServer, ofDesk] = [attacksOnServer(), attacksOnDesk()]
      const tries = { ...ofServer, ...ofDesk }
      expect(await freely(tries, shop.user)).toEqual(
        mapped(tries, () => expect.stringMatching(/^(EACCES|EPERM|ERR_SQLITE_ERROR)$/) as string),
      )
      expect(await freely(ofServer)).toEqual(mapped(ofServer, () => 'done'))
      expect(await freely(ofDesk, desk.user)).toEqual(mapped(ofDesk, () => 'done'))
    })

  it('its own revision and its compile cache are open to it', async () => {
    expect(
      await freely({ read: `fs.readFileSync('${own('agent.ts')}')`,
        write: `fs.mkdtempSync('${dataDir}/revisions/compiled/${shop.id}/new-')` }, shop.user),
    )
      .toEqual({ read: 'done', write: 'done' })
  })

  it('a third deployment gets the user of one that is idle, and what that one has left is gone',
    async () => {
      const third = await deployed('third', 'acme')
      expect([shop.user, desk.user]).toContain(third.user)
      const former = [shop, desk].find(({ user }) => user === third.user)
      expect(readdirSync(join(dataDir, 'revisions/compiled'))).not.toContain(former!.id)
      const again = Number(await former!.target.answer('String(process.getuid())'))
      expect([first, last]).toContain(again)
    })

  it('a server refuses to start where users cannot work', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'heddle-users-'))
    const place = { dataDir: join(closed, 'data') }
    try {
      expect(await failToStart({ ...place, args: users })).toMatchObject({ code: 1,
        output: expect.stringContaining(`user ${first} cannot read ${closed}:`) as string })
      expect(await failToStart({ ...place, args: ['--graphs-users', '1-2'] })).toMatchObject({
        code: 1,
        output: expect.stringContaining('choose ids that belong to nobody') as string,
      })
    } finally {
      rmSync(closed, { recursive: true, force: true })
    }
  })
})

async function deployed(name: string, tenant: string): Promise<Deployed> {
  const maker = await openKeyMaker(server)
  const key = await maker.make(tenant, 'admin').finally(() => maker.close())
  const target = new DeployTarget(server.url, name, { 'x-api-key': key })
  const { status } = await target.create({ limits: { memory_mb: 320, workers: 1 } })
  expect(status).toBe(201)
  await target.deploy(built)
  const pid = Number(await target.answer('String(process.pid)'))
  const user = Number(/^Uid:\s(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  const id = await target.answer("process.env.NODE_COMPILE_CACHE.split('/').at(-1)")
  return { target, pid, user, id: id! }
}

/** What code could do to the server if Node permitted it everything, by what that is. */
function attacksOnServer(): Readonly<Record<string, string>> {
  return {
    'the database of the server': `fs.readFileSync('${dataDir}/heddle.db')`,
    'the database, for which node:sqlite needs no permission':
      `new (require('node:sqlite').DatabaseSync)('${dataDir}/heddle.db', { readOnly: true })`,
    'the key of secrets': `fs.readFileSync('${dataDir}/secrets.key')`,
    'the socket of operators':
      `new Promise((resolve, reject) => require('net').connect('${dataDir}/heddle.sock')
        .on('connect', resolve).on('error', reject))`,
    'the names in the data directory': `fs.readdirSync('${dataDir}')`,
    'a new file in the data directory': `fs.mkdtempSync('${dataDir}/new-')`,
    'the names of revisions': `fs.readdirSync('${dataDir}/revisions')`,
    'the names of revisions with the same packages': `fs.readdirSync('${packages()}')`,
    'a change of its own revision': `fs.openSync('${own('agent.ts')}', 'r+')`,
    'a new file in its own revision': `fs.mkdtempSync('${own('new-')}')`,
    'a change of Heddle': `fs.openSync('${heddle}/package.json', 'r+')`,
    'the environment of the server': `fs.readFileSync('/proc/${server.pid}/environ')`,
    'the memory of the server': `fs.readFileSync('/proc/${server.pid}/maps')`,
    'a signal to the server': `process.kill(${server.pid}, 0)`,
    'the user of the server': 'process.setuid(0)',
  }
}

/** What it could do to another deployment. */
function attacksOnDesk(): Readonly<Record<string, string>> {
  return {
    'compiled code of another deployment':
      `fs.readdirSync('${dataDir}/revisions/compiled/${desk.id}')`,
    'the memory of another deployment': `fs.readFileSync('/proc/${desk.pid}/maps')`,
    'the environment of another deployment': `fs.readFileSync('/proc/${desk.pid}/environ')`,
    'the folder of another deployment': `fs.readlinkSync('/proc/${desk.pid}/cwd')`,
    'a signal to another deployment': `process.kill(${desk.pid}, 0)`,
    'the user of another deployment': `process.setuid(${desk.user})`,
  }
}

/** The folder of packages that all revisions of this test share. */
function packages(): string {
  const folder = join(dataDir, 'revisions')
  return join(folder, readdirSync(folder).find((name) => /^[0-9a-f]{64}$/.test(name))!)
}

/** A file of the revision that both deployments have. */
function own(file: string): string {
  return join(packages(), readdirSync(packages()).find((each) => /^[0-9a-f]{64}$/.test(each))!,
    file)
}

/** Does what code of a user could do if Node permitted it everything: `done`, or why not. */
async function freely(tries: Readonly<Record<string, string>>,
  user?: number): Promise<Readonly<Record<string, string>>> {
  const each = Object.entries(tries).map(([name, code]) =>
    `said[${JSON.stringify(name)}] = await ended(async () => { await (${code}) })`
  )
  const script = `const [fs, said] = [require('fs'), {}]
    const ended = (attempt) => attempt().then(() => 'done', (error) => error.code ?? error.message)
    void (async () => {
      ${each.join('\n')}
      console.log(JSON.stringify(said))
      process.exit()
    })()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', script], {
    env: {},
    cwd: '/',
    ...user !== undefined && { uid: user, gid: user },
  })
  return JSON.parse(stdout) as Record<string, string>
}

function mapped(tries: Readonly<Record<string, string>>,
  to: () => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(tries).map((name) => [name, to()]))
}
