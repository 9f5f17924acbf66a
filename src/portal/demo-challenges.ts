/** One text of a demo challenge, in one language; the score of a translation is 0 here: it has its original's. */
export interface DemoTexte {
  rubrique: string
  score: number
  lang: string
  titre: string
  soustitre: string
  descriptif: string
}

/**
 * The texts of the demo challenges: each inner array holds an original, then its translations.
 * Throws on a line that has no place, so that a slip of the pen is seen at the first run.
 */
export function demoTextes(): DemoTexte[][] {
  const groupes: DemoTexte[][] = []
  let rubrique = ''
  for (const ligne of TEXTES.split('\n').filter((l) => l !== '')) {
    const entete = /^(?:(?<score>\d+) )?(?<lang>fr|en|es|de) \| (?<titre>.+) \| (?<soustitre>.+)$/.exec(ligne)?.groups
    if (ligne.startsWith('# ')) {
      rubrique = ligne.slice(2)
    } else if (entete) {
      if (entete.score) groupes.push([])
      groupes.at(-1)!.push(texte(rubrique, entete))
    } else if (ligne.startsWith('<')) {
      groupes.at(-1)!.at(-1)!.descriptif += ligne
    } else {
      throw new Error(`demo challenges: unreadable line: ${ligne}`)
    }
  }
  return groupes
}

function texte(rubrique: string, { score, lang = '', titre = '', soustitre = '' }: Partial<Record<string, string>>) {
  return { rubrique, score: Number(score ?? 0), lang, titre, soustitre, descriptif: '' }
}

// A small notation, because a hundred texts as object literals would take six hundred lines that nobody reads:
// `# rubrique`, then `score lang | titre | soustitre` opens an original, `lang | titre | soustitre` a translation
// of the last original, and the HTML lines below are its descriptif.
const TEXTES = `
# Web - Serveur
5 fr | Le tiroir entrouvert | Un répertoire que personne n'a fermé
<p>Le serveur montre un peu plus que prévu. Retrouvez la note du gardien&nbsp;!</p>
en | The half-open drawer | A directory nobody closed
<p>The server shows a little more than intended. Find the caretaker's note.</p>
es | El cajón entreabierto | Un directorio que nadie cerró
<p>El servidor muestra algo más de lo previsto. Encuentre la nota del conserje.</p>
10 fr | Le portier distrait | Méthodes HTTP
<p>Le portier refuse tous les visiteurs, mais il n'a pas appris tous les verbes. Entrez sans mot de passe.</p>
en | The absent-minded doorman | HTTP methods
<p>The doorman turns every visitor away, yet he never learnt all the verbs. Get in without a password.</p>
10 fr | Poupées russes | Inclusion de fichiers
<p>Chaque page en cache une autre. Affichez <code>/coffre/message.txt</code> depuis la page d'accueil.</p>
15 fr | La caisse qui ment | Confiance dans un champ caché
<p>Achetez le service à thé à 900&nbsp;&euro; avec les 10&nbsp;&euro; de votre porte-monnaie.</p>
de | Die lügende Kasse | Vertrauen in ein verstecktes Feld
<p>Kaufen Sie das Teeservice für 900&nbsp;&euro; mit den 10&nbsp;&euro; aus Ihrer Geldbörse.</p>
25 fr | Bibliothèque municipale | Injection SQL dans une recherche
<p>La fiche d'un seul livre n'est pas publique. Faites-la apparaître dans les r&eacute;sultats.</p>
<p>Indice&nbsp;: le tri est plus bavard que la recherche.</p>
en | Town library | SQL injection in a search
<p>One single book has no public record. Make it show up among the results.</p>
<p>Hint: the sort order talks more than the search does.</p>
35 fr | Le modèle trop poli | Injection de gabarit
<p>Le service de cartes de vœux répète tout ce qu'on lui dit. Faites-lui lire son propre fichier de configuration.</p>
50 fr | Deux guichets, un tampon | Situation de compétition
<p>Un bon de réduction ne sert qu'une fois… à condition d'arriver l'un après l'autre.</p>
en | Two counters, one stamp | Race condition
<p>A voucher can be used only once&hellip; provided that customers arrive one after the other.</p>
80 fr | La cave du notaire | Désérialisation en chaîne
<p>Le dossier est signé, son contenu ne l'est pas. Composez une chaîne d'objets qui ouvre la cave.</p>

# Web - Client
5 fr | Derrière le rideau | Lire ce que le navigateur reçoit
<p>Tout est déjà dans la page. Regardez <em>derrière</em>.</p>
en | Behind the curtain | Reading what the browser receives
<p>Everything is already in the page. Look <em>behind</em> it.</p>
de | Hinter dem Vorhang | Lesen, was der Browser empfängt
<p>Alles steht schon auf der Seite. Schauen Sie <em>dahinter</em>.</p>
5 fr | Le bouton grisé | Contrôles désactivés
<p>Ce formulaire attend une réponse qu'il ne vous laisse pas envoyer. Envoyez-la quand même.</p>
10 fr | Serrure en papier | Vérification dans le navigateur
<p>Le mot de passe est comparé chez vous&nbsp;: autant le lire.</p>
en | Paper lock | A check made in the browser
<p>The password is compared on your side, so you may as well read it.</p>
es | Cerradura de papel | Una comprobación en el navegador
<p>La contraseña se compara en su propio navegador: basta con leerla.</p>
20 fr | Livre d'or | XSS stockée
<p>Le modérateur relit chaque message toutes les cinq minutes. Rapportez le contenu de son cookie.</p>
en | Guest book | Stored XSS
<p>The moderator reads every message every five minutes. Bring back what the cookie holds.</p>
25 fr | Bons voisins | Partage entre origines trop généreux
<p>L'interface fait confiance à tous les domaines dont le nom finit bien. Le vôtre aussi.</p>
40 fr | La politique du château | Contournement de CSP
<p>Seuls les scripts de la maison sont admis&nbsp;; l'un d'eux est bien serviable.</p>
65 fr | Prototype d'automate | Pollution de prototype
<p>Une option oubliée se transmet à toute la descendance. Changez le comportement de l'automate.</p>
en | The automaton's prototype | Prototype pollution
<p>A forgotten option is handed down to all descendants. Change what the automaton does.</p>

# Cryptanalyse
5 fr | Le décalage du facteur | Substitution simple
<p>Le facteur décale toujours ses lettres du même nombre de cases.</p>
<p>Lisez la carte postale&nbsp;: <code>TGPFGB-XQWU</code>.</p>
en | The postman's shift | Simple substitution
<p>The postman always moves his letters by the same number of boxes. Read the postcard:</p>
<p><code>TGPFGB-XQWU</code>, written in French.</p>
10 fr | Soixante-quatre tiroirs | Un encodage n'est pas un chiffre
<p>Rangez ce texte dans les bons tiroirs, autant de fois qu'il le faudra.</p>
15 fr | Le poème du ramoneur | Chiffre polyalphabétique
<p>La clef est un mot du poème, et elle se répète. Le d&eacute;chiffrement donne le dernier vers.</p>
es | El poema del deshollinador | Cifrado polialfabético
<p>La clave es una palabra del poema y se repite. Al descifrar aparece el último verso.</p>
15 fr | Sel oublié | Empreintes sans sel
<p>Trois empreintes, trois mots courants. Donnez-les dans l'ordre alphabétique.</p>
en | Forgotten salt | Unsalted hashes
<p>Three hashes, three common words. Give them in alphabetical order.</p>
30 fr | Mosaïque | Chiffrement par blocs sans chaînage
<p>Les mêmes carreaux donnent toujours les mêmes couleurs. Recollez un jeton d'administrateur.</p>
de | Mosaik | Blockchiffre ohne Verkettung
<p>Gleiche Steine ergeben immer gleiche Farben. Setzen Sie ein Token des Verwalters zusammen.</p>
35 fr | Jumeaux premiers | RSA et facteurs trop proches
<p>Le module a été choisi un soir de paresse. Retrouvez ses deux facteurs.</p>
en | Prime twins | RSA with factors too close
<p>The modulus was picked on a lazy evening. Recover both of its factors.</p>
55 fr | L'oracle du moulin | Oracle de bourrage
<p>Le moulin ne dit que &laquo;&nbsp;oui&nbsp;&raquo; ou &laquo;&nbsp;non&nbsp;&raquo;.</p>
<p>C'est d&eacute;j&agrave; trop.</p>
90 fr | Courbe de la rivière | Courbe elliptique mal choisie
<p>Le point de départ tourne en rond plus tôt que prévu. Calculez le secret partagé.</p>

# Stéganographie
5 fr | Carte postale de Bretagne | Métadonnées d'une image
<p>L'appareil se souvient du lieu et de l'heure. Dans quel port la photo a-t-elle été prise&nbsp;?</p>
en | Postcard from Brittany | Image metadata
<p>The camera remembers the place and the hour. In which harbour was the picture taken?</p>
5 fr | Encre blanche | Texte invisible
<p>Le document paraît vide. Il ne l'est pas.</p>
es | Tinta blanca | Texto invisible
<p>El documento parece vacío. No lo está.</p>
15 fr | Le bit du fond | Bits de poids faible
<p>Deux images semblables à l'œil, et pourtant l'une d'elles parle.</p>
en | The bottom bit | Least significant bits
<p>Two pictures look the same to the eye, and yet one of them speaks.</p>
20 fr | Chant de baleine | Spectrogramme
<p>N'écoutez pas cet enregistrement&nbsp;: regardez-le.</p>
de | Walgesang | Spektrogramm
<p>Hören Sie sich diese Aufnahme nicht an: sehen Sie sie an.</p>
30 fr | Valise à double fond | Un fichier, deux formats
<p>Cette archive est aussi une image, et l'image est aussi une partition.</p>
45 fr | Palette fanée | Ordre des couleurs
<p>Les couleurs sont justes, leur ordre est &eacute;trange. Une permutation vaut bien un message.</p>

# Réseau
5 fr | Conversation à voix haute | Mot de passe en clair
<p>Quelqu'un s'est connecté sans baisser la voix. Retrouvez son mot de passe dans la capture.</p>
en | Talking out loud | Cleartext password
<p>Somebody logged in without lowering their voice. Find the password in the capture.</p>
de | Laut gesprochen | Kennwort im Klartext
<p>Jemand hat sich angemeldet, ohne die Stimme zu senken. Finden Sie das Kennwort im Mitschnitt.</p>
10 fr | Annuaire bavard | Transfert de zone
<p>Demandez poliment au serveur de noms tout ce qu'il sait.</p>
es | Una guía habladora | Transferencia de zona
<p>Pida con educación al servidor de nombres todo lo que sabe.</p>
15 fr | Trois coups à la porte | Ports frappés dans l'ordre
<p>La porte ne s'ouvre qu'à ceux qui connaissent la mélodie. La capture en contient un refrain.</p>
20 en | The snail's parcel | Fragments out of order
<p>The parcel arrived in pieces, late and in the wrong order. Put it back together.</p>
fr | Le colis de l'escargot | Fragments en désordre
<p>Le colis est arrivé en morceaux, en retard et dans le désordre. Recomposez-le.</p>
30 fr | Le perroquet | Tunnel dans les échos
<p>Des requêtes d'écho un peu trop longues quittent le réseau chaque nuit. Que racontent-elles&nbsp;?</p>
50 fr | Route des contrebandiers | Annonce de route falsifiée
<p>Détournez vers vous le trafic du phare, sans que le gardien ne s'en aperçoive.</p>

# Forensique
10 fr | Corbeille à papier | Fichiers effacés
<p>On a vidé la corbeille, pas le disque. Restaurez la facture.</p>
en | Waste paper basket | Deleted files
<p>The basket was emptied, the disk was not. Restore the invoice.</p>
15 fr | Journal de bord | Lecture de journaux
<p>Dix mille lignes, une seule intrusion. Donnez l'heure exacte de la première commande.</p>
en | Ship's log | Reading log files
<p>Ten thousand lines, a single intrusion. Give the exact time of the first command.</p>
20 fr | Clef du vestiaire | Clef USB
<p>Quelle clef a été branchée, et quel document a-t-elle emport&eacute;&nbsp;?</p>
25 fr | Mémoire de poisson | Image de la mémoire vive
<p>La machine a été figée à temps. Retrouvez le mot de passe que le processus gardait pour lui.</p>
es | Memoria de pez | Imagen de la memoria
<p>La máquina se congeló a tiempo. Encuentre la contraseña que el proceso guardaba para sí.</p>
35 fr | Horloge arrêtée | Chronologie falsifiée
<p>Les dates ont été retouchées. Une seule ne peut pas mentir&nbsp;: laquelle&nbsp;?</p>
60 fr | Le miroir brisé | Reconstruction d'un volume
<p>Quatre disques, dont un noyé. Remontez le volume et lisez le carnet de l'horloger.</p>

# Cracking
5 fr | Chaîne apparente | Un binaire sans secret
<p>Le mot de passe est écrit en toutes lettres dans le programme.</p>
en | A visible string | A binary without secrets
<p>The password is written out in full inside the program.</p>
10 fr | Saut de puce | Saut conditionnel
<p>Une seule instruction vous sépare du message. Changez-la.</p>
de | Flohsprung | Bedingter Sprung
<p>Nur ein einziger Befehl trennt Sie von der Nachricht. Ändern Sie ihn.</p>
20 fr | Grille de mots croisés | Numéro de série
<p>Comprenez la règle, puis donnez un numéro valable pour le nom <code>ECUREUIL</code>.</p>
en | Crossword grid | Serial number
<p>Work out the rule, then give a number that is valid for the name <code>ECUREUIL</code>.</p>
30 fr | Le sourire du guetteur | Détection de débogueur
<p>Le programme sait qu'on le regarde. Regardez-le autrement.</p>
45 fr | Boîte à musique | Machine virtuelle
<p>Le vrai programme est gravé sur le rouleau. Écrivez le désassembleur qui le lit.</p>
75 fr | Origami | Code qui se réécrit
<p>Chaque pli déplie le suivant. La feuille entière n'est jamais à plat.</p>

# Programmation
5 fr | Calcul mental | Lire, compter, répondre
<p>Une addition, deux secondes. Votre programme est plus rapide que vous.</p>
en | Mental arithmetic | Read, count, answer
<p>One sum, two seconds. Your program is faster than you are.</p>
es | Cálculo mental | Leer, contar, responder
<p>Una suma, dos segundos. Su programa es más rápido que usted.</p>
5 fr | À l'envers | Retourner un texte
<p>Renvoyez la phrase reçue en commençant par sa dernière lettre, accents compris.</p>
10 fr | Le compte des moutons | Suite logique
<p>Le berger compte d'une dr&ocirc;le de mani&egrave;re. Donnez le centième terme.</p>
15 fr | Labyrinthe du jardinier | Plus court chemin
<p>Cent haies, une sortie. Répondez en moins de trois secondes par la liste des pas.</p>
en | The gardener's maze | Shortest path
<p>A hundred hedges, one way out. Answer with the list of steps in less than three seconds.</p>
20 fr | Code-barres froissé | Reconnaissance d'image
<p>Lisez le code malgré les plis&nbsp;: le lecteur du magasin y arrive bien.</p>
30 fr | Jeu des allumettes | Stratégie gagnante
<p>Battez le serveur vingt fois de suite. Il joue bien, mais il commence.</p>
40 en | Knights and teacups | Constraint solving
<p>Seat every knight so that no two of them reach for the same cup. There are sixty-four knights.</p>

# Réaliste
20 fr | La boulangerie en ligne | Un petit site de quartier
<p>La boulangère a perdu l'accès à ses commandes. Aidez-la à le retrouver avant samedi.</p>
en | The online bakery | A small neighbourhood site
<p>The baker has lost access to her orders. Help her get it back before Saturday.</p>
35 fr | Fête de l'école | Du formulaire au serveur
<p>La tombola semble truqu&eacute;e. Prouvez-le en retrouvant le tirage avant l'heure.</p>
55 fr | Le refuge de montagne | Réservations et portes d'entrée multiples
<p>Le refuge est complet jusqu'au printemps. Obtenez pourtant une couchette, puis les clefs.</p>
95 fr | Compagnie des tramways | Réseau interne complet
<p>De la borne de quai jusqu'au poste d'aiguillage&nbsp;: tout le réseau est à traverser.</p>

# App - Système
10 fr | Le chemin des écoliers | Variable d'environnement
<p>Le programme appelle ses outils sans dire où ils habitent. Montrez-lui une autre adresse.</p>
en | The long way round | Environment variable
<p>The program calls its tools without saying where they live. Show it another address.</p>
15 fr | Lien de parenté | Lien symbolique
<p>Le script de sauvegarde copie ce qu'il trouve. Qu'il trouve autre chose&nbsp;!</p>
25 fr | Tasse trop pleine | Débordement sur la pile
<p>La tasse contient seize gorgées. Versez-en davantage, et choisissez où cela coule.</p>
en | An overfull cup | Stack overflow
<p>The cup holds sixteen sips. Pour more of them, and choose where it spills.</p>
40 fr | Chaîne mal formée | Chaîne de format
<p>Le journal affiche tel quel ce que vous signez. Écrivez là où il ne faut pas.</p>
60 fr | Puzzle de retours | Enchaînement de gadgets
<p>La pile ne s'exécute plus. Qu'à cela ne tienne&nbsp;: les morceaux utiles sont d&eacute;j&agrave; en place.</p>
85 fr | Tas de feuilles mortes | Corruption du tas
<p>Une feuille libérée deux fois, et l'automne recommence. Prenez la main sur le service.</p>
`
