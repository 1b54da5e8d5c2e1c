/** Removes folders of the server from messages of builds and loaders. Pure. */

/** An absolute path of two names at least, but not the rest of an address. */
const absolute = /(?<![\w.:/\\@%~-])\/(?:[\w.@+=-]+\/)+([\w.@+=-]*)/g

/**
 * A text without folders, for the uploader of the files. `work` is the folder of a build; without
 * one, only the file name is left of a path.
 */
export function withoutFolders(text: string, work?: string): string {
  const plain = text.replaceAll('file:///', '/')
  const [first = '', ...others] = work === undefined ? [plain] : plain.split(work)
  return [first, ...others.map((each) => each.replace(/^(?:\/project(?:\/_)*)?\/?/, './'))].join('')
    .replaceAll(absolute, '…/$1')
}
