/** The command `heddle`, run directly: it finds the Node that Heddle needs. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'

const command = join(resolve(import.meta.dirname, '../../..'), 'scripts/heddle.mjs')
/** The Node of a machine is often older than the one that Heddle needs. */
const nodes = [process.execPath, '/usr/bin/node'].filter((node) => existsSync(node))

describe('the command heddle', () => {
  it.each(nodes)('runs if it is started by %s', (node) => {
    const version = execFileSync(node, [command, '--version'], { encoding: 'utf8' })
    expect(version.trim()).toMatch(/^\d+\.\d+\.\d+\+([0-9a-f]{8,}(\.dirty)?|no-commit)$/)
  })
})
