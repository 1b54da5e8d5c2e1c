/** The proxy of package managers: what it leads to, and what a build says of it. */

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'

import { expect, it, onTestFinished } from 'vitest'

import { openInstallerProxy } from '../../../../src/revision/remote/installer-proxy.ts'
import { openHosts } from '../../../../src/revision/remote/open-hosts.ts'
import { withoutFolders } from '../../../../src/revision/remote/without-folders.ts'
import { hear } from '../../../support/wire.ts'

/** A server on this machine that notes what it is asked; `/hang` is never answered. */
async function serverHere() {
  const asked: string[] = []
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(`${headers.host}${url}`)
    if (url !== '/hang') response.end('there')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, port: (server.address() as AddressInfo).port }
}

async function proxyOf(...parts: Parameters<typeof openInstallerProxy>) {
  const proxy = await openInstallerProxy(...parts)
  onTestFinished(() => proxy.close())
  const { port } = new URL(proxy.url)
  /** The status of a plain request. */
  const get = (url: string) =>
    new Promise<number>((done, failed) => {
      request({ host: '127.0.0.1', port, path: url }, (answer) => {
        answer.resume().once('end', () => done(answer.statusCode!))
      }).once('error', failed).end()
    })
  /** What comes back of a tunnel through which a request is sent. */
  const tunnel = async (place: string, path = '/tunnel') => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`CONNECT ${place} HTTP/1.1\r\n\r\n`)
    const head = await hear(socket, (text) => text.includes('\r\n\r\n'))
    if (!head.includes(' 200 ')) return head
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return await hear(socket)
  }
  return { proxy, get, tunnel }
}

it('It leads to the registry of the server, and nowhere else on this machine.', async () => {
  const [registry, other] = [await serverHere(), await serverHere()]
  const { proxy, get, tunnel } = await proxyOf(openHosts(`http://127.0.0.1:${registry.port}/`))
  expect(await get(`http://127.0.0.1:${registry.port}/a?b`)).toBe(200)
  expect(await tunnel(`127.0.0.1:${registry.port}`)).toContain('there')
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f.1']) {
    expect([host, await get(`http://${host}:${other.port}/a`)]).toEqual([host, 403])
    expect([host, await tunnel(`${host}:${other.port}`)])
      .toEqual([host, expect.stringContaining('403 Forbidden')])
  }
  for (const url of ['ftp://127.0.0.1/', '/a', 'http://[']) expect(await get(url)).toBe(403)
  expect(registry.asked).toEqual([`127.0.0.1:${registry.port}/a?b`, 'x/tunnel'])
  expect(other.asked).toEqual([])
  expect(proxy.refused[0]).toBe('127.0.0.1, which is loopback')
})

it('It cuts connections that are silent.', async () => {
  const there = await serverHere()
  const { get, tunnel } = await proxyOf(openHosts(`http://127.0.0.1:${there.port}/`), 50)
  expect(await get(`http://127.0.0.1:${there.port}/hang`)).toBe(502)
  expect(await tunnel(`127.0.0.1:${there.port}`, '/hang')).toBe('')
})

it('Lines of a build name no folder of the server.', () => {
  const work = '/srv/my data/builds/work-1-a'
  const said = (text: string) => withoutFolders(text, work)
  expect(said(`${work}/project/_/_/_/agent.ts:1: no`)).toBe('./agent.ts:1: no')
  expect(said(`npm error A complete log is in ${work}/home/.npm/_logs/a.log`))
    .toBe('npm error A complete log is in ./home/.npm/_logs/a.log')
  expect(said("Cannot find '/usr/lib/node_modules/npm/x.js' of file:///srv/app/src/a.ts"))
    .toBe("Cannot find '…/x.js' of …/a.ts")
  expect(said('GET https://r.example/a/-/a-1.0.0.tgz 404 of @s/a, 1/2, and/or'))
    .toBe('GET https://r.example/a/-/a-1.0.0.tgz 404 of @s/a, 1/2, and/or')
})
