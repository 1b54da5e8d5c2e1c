/** The network namespace of replays, tried with programs that no guard watches. */

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

import { describe, expect, it, onTestFinished } from 'vitest'

import { behindWall, findNetworkWall } from '../../../../src/graph/process/network-wall.ts'
import { usersOfTest } from '../../../support/os-users.ts'

const programs = { unshare: '/usr/bin/unshare', ip: '/sbin/ip', shell: '/bin/sh',
  setpriv: '/usr/bin/setpriv' }
const node = { program: '/node', args: ['--permission', 'entry.js'] }

describe('The command of a process in a namespace', () => {
  it('opens a network namespace, and its loopback interface', () => {
    expect(behindWall({ ...programs, isRoot: true }, node, undefined)).toEqual({
      program: '/usr/bin/unshare',
      args: ['--net', '--', '/bin/sh', '-c', '"$0" link set lo up && exec "$@"', '/sbin/ip',
        '/node', '--permission', 'entry.js'],
    })
  })

  it('opens a namespace of users as well if the server is not root', () => {
    expect(behindWall({ ...programs, isRoot: false }, node, undefined).args.slice(0, 2))
      .toEqual(['--map-root-user', '--net'])
  })

  it('changes the user when the namespace is open', () => {
    expect(behindWall({ ...programs, isRoot: true }, node, 70_000).args.slice(-7)).toEqual([
      '/usr/bin/setpriv',
      '--reuid=70000',
      '--regid=70000',
      '--clear-groups',
      '/node',
      '--permission',
      'entry.js',
    ])
  })
})

const { first: user } = usersOfTest() ?? {}
const found = await findNetworkWall(user)

describe.skipIf(found.kind === 'none')('A program in a namespace', () => {
  const wall = found.kind === 'none' ? undefined : found.wall

  /** What a program prints that has no permissions to lack and no guards. */
  async function printed(code: string, as?: number): Promise<string> {
    const { program, args } = behindWall(wall!, { program: process.execPath, args: ['-e', code] },
      as)
    const { stdout } = await promisify(execFile)(program, args, { env: {}, cwd: '/' })
    return stdout.trim()
  }

  it('reaches a server of its own, and no server of the machine', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await printed(`
      const net = require('node:net')
      const tried = (port) => new Promise((resolve) => net.connect(port, '127.0.0.1')
        .on('connect', () => resolve('open')).on('error', ({ code }) => resolve(code)))
      const own = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1', async () => {
        console.log(await tried(own.address().port), await tried(${port}))
        process.exit()
      })`)).toBe('open ECONNREFUSED')
  })

  it.skipIf(user === undefined)('runs as the user of its deployment, without rights', async () => {
    expect(await printed(`
      const status = require('node:fs').readFileSync('/proc/self/status', 'utf8')
      console.log(/^Uid:.*$/m.exec(status)[0].split(/\\s+/).join(' '),
        /^CapEff:.*$/m.exec(status)[0].split(/\\s+/)[1])`, user))
      .toBe(`Uid: ${user} ${user} ${user} ${user} 0000000000000000`)
  })
})
