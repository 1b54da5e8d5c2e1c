/** Packages that only some tests need, installed once into a folder with a lock file of its own. */

import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Installs what the folder's lock file names, unless it is there. Several files may ask at once:
 * each installs beside the folder's packages, and the first one moves its own into place.
 */
export async function installPackages(folder: string, what: string): Promise<void> {
  if (await isInstalled(folder)) return
  console.log(`Installing ${what} (once) …`)
  const beside = await mkdtemp(join(folder, 'installing-'))
  try {
    await Promise.all(
      ['package.json', 'package-lock.json'].map((name) =>
        copyFile(join(folder, name), join(beside, name))
      ),
    )
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
      cwd: beside,
    })
    if (await isInstalled(folder)) return
    const packages = join(folder, 'node_modules')
    await rename(packages, join(beside, 'before')).catch(() => {})
    await rename(join(beside, 'node_modules'), packages).catch(async (error: unknown) => {
      if (!await isInstalled(folder)) throw error
    })
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

/** True if the folder's packages are those of its lock file. */
async function isInstalled(folder: string): Promise<boolean> {
  const [wanted, present] = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
      versionsIn(join(folder, name))
    ),
  )
  return wanted === present
}

/**
 * Every package of a lock file with its version, as one text; none where there is no file. Optional
 * ones are left out: those for other machines are never there.
 */
async function versionsIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '{"packages":{}}')
  const { packages } = JSON.parse(text) as {
    packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
  }
  return Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional)
    .map(([path, { version }]) => `${path} ${version}`).sort().join('\n')
}
