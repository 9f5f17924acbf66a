import type { Key } from './counted/key.js'

/** A node of a counted order: the key that it starts at, and the number of entries from there to the next node. */
export interface Node extends Key {
  nb: number
}

/** With 32 nodes in each they take 9 MB, with 64 they take 16 MB. */
const MAX_CACHED_FAMILIES = 4_096

/** The nodes of counted orders that the snapshots of one version of the data have read: each family under its parent. */
export class CachedNodes {
  private readonly families = new Map<string, readonly Node[]>()

  get(parent: string): readonly Node[] | undefined {
    const family = this.families.get(parent)
    // What was used longest ago is first.
    if (family && this.families.delete(parent)) this.families.set(parent, family)
    return family
  }

  set(parent: string, family: readonly Node[]): void {
    this.families.set(parent, family)
    if (this.families.size > MAX_CACHED_FAMILIES) this.families.delete(this.families.keys().next().value as string)
  }
}

/** Holds nodes for the version of the data that was read last. A snapshot of another version begins with none. */
export class NodesByVersion {
  private version: number | undefined
  private nodes = new CachedNodes()

  of(version: number): CachedNodes {
    if (version !== this.version) {
      this.version = version
      this.nodes = new CachedNodes()
    }
    return this.nodes
  }
}
