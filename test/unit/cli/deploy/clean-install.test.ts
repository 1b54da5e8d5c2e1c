/** A build from a fresh install: what is copied, what is run, and what the folder keeps. */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { withCleanInstall } from '../../../../src/cli/deploy/clean-install.ts'
import { buildRevision, platformHere, platformOf } from '../../../../src/revision/index.ts'
import type { InstallCommand } from '../../../../src/revision/index.ts'
import { installCommand } from '../../../../src/revision/remote/install-command.ts'
import { writeTree } from '../../revision/trees.ts'
import { smallProject } from '../control/small-project.ts'

const here = platformHere()
const mac = platformOf('darwin-arm64')!

describe('a clean build', () => {
  it('copies all but what is installed, installs, and builds what was installed', async () => {
    const engine = 'node_modules/@langchain/langgraph'
    const folder = await smallProject({ '.env': 'KEY=1', '.npmrc': 'x=1', '.heddle/data': '',
      'langgraph.json': '{"env": ".env", "graphs": {"agent": "./agent.ts:graph"}}',
      [`${engine}/index.js`]: 'module.exports = "older"' })
    execFileSync('git', ['init', '-q', folder])
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q',
      '--allow-empty', '-m', 'First'])
    let copy = ''
    let command: InstallCommand | undefined
    const texts: string[] = []
    const { manifest } = await withCleanInstall({ config: folder, platform: here,
      run: async (asked, place) => {
        ;[command, copy] = [asked, place]
        expect(readdirSync(place).toSorted()).toEqual(['.env', '.npmrc', 'agent.ts',
          'langgraph.json', 'package-lock.json', 'package.json'])
        await writeTree(place, {
          [`${engine}/package.json`]: '{"name": "@langchain/langgraph", "version": "1.0.0"}',
          [`${engine}/index.js`]: 'module.exports = "fresh"',
        })
      },
      build: (config) =>
        buildRevision({ config, platform: here, keep: async ({ data }) =>
          void texts.push(`${zstdDecompressSync(data)}`) }) })
    expect(command).toEqual({ program: 'npm',
      args: ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund',
        '--loglevel=notice'] })
    expect(texts.join('')).toContain('fresh')
    expect(texts.join('')).not.toContain('older')
    expect(manifest).toMatchObject({ wants_env: ['KEY'],
      source: { commit: expect.stringMatching(/^[0-9a-f]{40}$/) } })
    expect([dirname(copy) === dirname(folder), existsSync(copy)]).toEqual([false, false])
  })

  it('installs where the lock file of a workspace is, and removes the copy after a failure',
    async () => {
      const folder = await smallProject({ 'package.json': '{"workspaces": ["apps/*"]}',
        'pnpm-lock.yaml': 'lockfile: 9', 'package-lock.json': '',
        'apps/shop/package.json': '{"name": "shop"}',
        'apps/shop/langgraph.json': '{"graphs": {"agent": "./agent.ts:graph"}}',
        'apps/shop/agent.ts': 'export const graph = 1' })
      let copy = ''
      await expect(
        withCleanInstall({ config: join(folder, 'apps/shop'), platform: here,
          run: async ({ program }, place) => {
            copy = place
            expect([program, basename(place)]).toEqual(['pnpm',
              expect.stringMatching(/^heddle-clean/)])
            throw new Error('no registry')
          }, build: (config) => buildRevision({ config, platform: here, keep: async () => {} }) }),
      )
        .rejects.toThrow('no registry')
      expect(existsSync(copy)).toBe(false)
    })

  it('says what the package manager said when it fails', async () => {
    const folder = await smallProject({ 'package-lock.json': '{"lockfileVersion": 0}',
      'programs/npm': {
        program: '#!/bin/sh\necho "npm error a lock file is needed" >&2; exit 1',
      } })
    vi.stubEnv('PATH', `${join(folder, 'programs')}:${process.env['PATH']}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(withCleanInstall({ config: folder, platform: here, build: async () => {
      throw new Error('never')
    } })).rejects.toThrow(/^npm ci could not install the packages:\nnpm error a lock file/)
  })
})

describe('what installs the packages', () => {
  it.each([
    ['package-lock.json', '{}', mac, ['npm', '--os=darwin --cpu=arm64']],
    ['pnpm-lock.yaml', '', platformOf('linux-arm64-musl')!, ['pnpm',
      '--os=linux --cpu=arm64 --libc=musl']],
    ['yarn.lock', '# yarn lockfile v1', here, ['yarn', '--frozen-lockfile --production']],
    ['yarn.lock', '__metadata:', here, ['yarn', '--immutable']],
    ['bun.lock', '', here, ['bun', '--frozen-lockfile --production']],
  ])('by %s with %j', (lockFile, text, platform, [program, options]) => {
    const command = installCommand(lockFile, text, platform)
    expect([command.program, command.args.join(' ')])
      .toEqual([program, expect.stringContaining(options!)])
  })

  it('for another platform is npm or pnpm', () => {
    expect(() => installCommand('bun.lock', '', mac))
      .toThrow(/^bun installs for this platform only/)
  })
})
