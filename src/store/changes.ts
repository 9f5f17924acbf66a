/**
 * The journal records changes of the data in commit order. A transaction writes its lines together with its change, under
 * cursors that only grow. The version of the data is the cursor of the newest line.
 */
export interface JournalEntry {
  /**
   * A record that was written or removed; `classement` for ranks that moved; `reglage` for a setting that no response shows;
   * `portail` for a change of anything, such as an import.
   */
  type: 'validation' | 'challenge' | 'auteur' | 'rubrique' | 'classement' | 'reglage' | 'portail'
  /** 1 where the record was removed. */
  supprime?: number
  id_auteur?: number | null
  id_challenge?: number | null
  id_rubrique?: number | null
  /** For `classement`: for each counted order that changed, between which keys. */
  rangs?: Ranges
}

/** By the name of an order: the first and the last key that changed, and whether its entries are as many as before. */
export type Ranges = Record<string, readonly [de: number, a: number, isSameCount: boolean]>

/** What changed between two versions of one kind. */
export interface News<Line> {
  /** The version of the previous news; 0 at first. */
  from: number
  /** Less than `from` after a failover, or if an older file was restored. */
  to: number
  /** What was committed in between, in order; undefined if that is unknown or too much. Then anything may have changed. */
  lines: readonly Line[] | undefined
}

/** Something that caches what it made from the store. */
export interface Subscriber<Line> {
  /** Whether it caches anything now. While no subscriber does, no lines are read. */
  readonly isInterested: boolean
  /** Runs synchronously, and does not throw. */
  hear(news: News<Line>): void
}

/** Follows one version and tells subscribers what changed: each change once, in order, without a gap. */
export interface Follower<Line> {
  /** Every subscriber has heard what changed up to this version. */
  readonly version: number
  /** Resolves when every subscriber has heard of a version, or of a newer one; undefined if they already have. */
  reach(version: number): Promise<void> | undefined
  /** Returns a function that ends the subscription. An eager subscriber hears soon, while no request arrives. */
  subscribe(subscriber: Subscriber<Line>, options?: { isEager?: boolean }): () => void
}

/** The followers of a store, one for each kind of version. */
export interface Changes {
  donnees: Follower<JournalEntry>
  /** The lines are the SHA-256 of the credentials that ended. */
  comptes: Follower<string>
}
