"""The small changes that :mod:`check` makes to the engine, one at a time: each breaks one rule or one card.

``old`` occurs exactly once in its file. A change that no play could tell from the original has no place here.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """One change: the file below ``engine/ptcg``, its text before and after, and what is wrong afterwards."""

    file: str
    old: str
    new: str
    breaks: str


RULES = (
    Mutation("rules.py", "HAND_SIZE = 7", "HAND_SIZE = 6", "opening hands have 6 cards"),
    Mutation("rules.py", "COUNTERS_FOR_CONFUSION = 3", "COUNTERS_FOR_CONFUSION = 2", "tails costs 2 counters"),
    Mutation("rules.py", "COUNTERS_FOR_BURN = 2", "COUNTERS_FOR_BURN = 1", "Burned puts 1 counter"),
    Mutation("rules.py", "COUNTERS_FOR_POISON = 1", "COUNTERS_FOR_POISON = 2", "Poisoned puts 2 counters"),
    Mutation("rules.py", "range(state.prize_count)]", "range(state.prize_count - 1)]", "one Prize too few is laid out"),
    Mutation(
        "rules.py", "EXTRA_DRAWS, 1 - frame.seat,", "EXTRA_DRAWS, frame.seat,", "extra cards for one's own mulligans"
    ),
    Mutation("rules.py", "for seat in reversed(order):", "for seat in order:", "the second player sets up first"),
    Mutation(
        "rules.py", "if state.turn >= state.turn_cap:", "if state.turn > state.turn_cap:", "one turn past the cap"
    ),
    Mutation(
        "rules.py", "_win(state, 1 - seat, Cause.DECK_OUT)", "_win(state, seat, Cause.DECK_OUT)", "decking out wins"
    ),
    Mutation("rules.py", "            pokemon.ability_used = False\n", "", "an Ability is used once a game"),
    Mutation(
        "rules.py",
        'if "Technical Machine" in CARDS[card].tags:',
        'if "Technical Machine" not in CARDS[card].tags:',
        "the end of a turn discards all Tools but Technical Machines",
    ),
    Mutation("rules.py", "coins = 2 if any(", "coins = 1 if any(", "a deep sleeper flips 1 coin"),
    Mutation(
        "rules.py",
        "            if moves.flip(state, seat):\n                moves.recover(state, seat, active, BURNED)",
        "            if not moves.flip(state, seat):\n                moves.recover(state, seat, active, BURNED)",
        "tails cures Burned",
    ),
    Mutation(
        "rules.py",
        "moves.recover(state, seat, active, PARALYZED)",
        "moves.recover(state, seat, active, ASLEEP)",
        "Paralyzed never ends",
    ),
    Mutation(
        "rules.py",
        "            if pokemon.damage and modifiers.remaining_hp(state, pokemon) <= 0:\n                moves.start(",
        "            if pokemon.damage and modifiers.remaining_hp(state, pokemon) < 0:\n                moves.start(",
        "0 HP left is overlooked outside attacks",
    ),
    Mutation("rules.py", "if when == IN_TURN and seat", "if seat", "a Knock Out in Checkup counts as the turn's"),
    Mutation(
        "rules.py",
        "if found is None or uid not in state.attack_knock_outs:",
        "if found is None:",
        "Gift Energy and Heavy Baton act on any Knock Out",
    ),
    Mutation("rules.py", "prizes[1 - seat] += modifiers", "prizes[seat] += modifiers", "the wrong side takes Prizes"),
    Mutation("rules.py", "0 if met[0] > met[1] else 1", "0 if met[0] < met[1] else 1", "the loser wins"),
    Mutation("rules.py", "    state.prize_count = 1\n", "    state.prize_count = 2\n", "Sudden Death with 2 Prizes"),
    Mutation(
        "rules.py",
        "1 - state.to_move if first else state.to_move",
        "state.to_move if first else 1 - state.to_move",
        "the player whose turn ends promotes first",
    ),
    Mutation(
        "rules.py",
        "attacker, COUNTERS_FOR_CONFUSION)\n        frame.memo = ()",
        "attacker, COUNTERS_FOR_CONFUSION)",
        "a Confused attacker attacks on tails too",
    ),
    Mutation(
        "rules.py",
        "player.discard.append(frame.card)",
        "player.lost.append(frame.card)",
        "played Trainers go to the Lost Zone",
    ),
    Mutation("rules.py", "modifiers.retreat_cost(state, active))", "1)", "1 Energy pays every Retreat Cost"),
    Mutation(
        "rules.py",
        "for seat in (1 - state.to_move, state.to_move):\n        if prizes[seat]:",
        "for seat in (state.to_move, 1 - state.to_move):\n        if prizes[seat]:",
        "the player to move takes Prizes first",
    ),
    Mutation("turn.py", "elif turn > 2:", "elif turn > 1:", "the second player evolves in their first turn"),
    Mutation(
        "turn.py",
        "pokemon.entered_turn < turn and pokemon.evolved_turn < turn",
        "pokemon.entered_turn < turn",
        "a Pokémon evolves twice in a turn",
    ),
    Mutation("turn.py", "if not player.energy_used:", "if True:", "any number of Energy a turn"),
    Mutation("turn.py", "if not pokemon.tools:", "if True:", "two Tools on one Pokémon"),
    Mutation(
        "turn.py", "player.supporter_used and turn > 1", "player.supporter_used and turn > 0", "a Supporter in turn 1"
    ),
    Mutation(
        "turn.py",
        "elif not player.stadium_used and (state.stadium < 0 or CARDS[state.stadium].name != card.name):",
        "elif not player.stadium_used:",
        "a Stadium replaces one of its own name",
    ),
    Mutation("turn.py", "active.conditions & (ASLEEP | PARALYZED)", "active.conditions & ASLEEP", "Paralyzed attacks"),
    Mutation(
        "turn.py",
        "len(energy) >= modifiers.retreat",
        "len(energy) > modifiers.retreat",
        "retreating wants 1 Energy to spare",
    ),
    Mutation(
        "turn.py", "player.bench and not player.retreat_used and", "player.bench and", "a second retreat in a turn"
    ),
    Mutation(
        "turn.py", "kind == NO_ITEMS and when == turn", "kind == NO_ITEMS and when > turn", "Item lock does nothing"
    ),
    Mutation(
        "turn.py",
        "if turn == 1 and not attack.usable_on_first_turn:",
        "if turn == 1:",
        "Fast Charge is refused in turn 1",
    ),
    Mutation("turn.py", "ability.name in player.names_used:", "False:", "two Quick Searches in a turn"),
    Mutation(
        "turn.py",
        "(CANNOT_USE_ATTACK, turn, attack",
        "(CANNOT_USE_ATTACK, turn + 1, attack",
        "Combustion Blast is never paused",
    ),
    Mutation(
        "turn.py",
        "        moves.leave_stadium(state)\n        state.stadium = card.index",
        "        state.stadium = card.index",
        "a replaced Stadium vanishes",
    ),
    Mutation(
        "turn.py",
        "        state.players[seat].stadium_effect_used = False\n",
        "",
        "a new Stadium cannot be used after another one was",
    ),
    Mutation("turn.py", "player.vstar_used = True", "player.vstar_used = False", "VSTAR Powers without end"),
)

MODIFIERS = (
    Mutation(
        "modifiers.py",
        "hook(state, state.stadium_owner, seat, pokemon, name):\n            return False",
        "hook(state, state.stadium_owner, seat, pokemon, name):\n            return True",
        "a Stadium takes no Abilities away",
    ),
    Mutation("modifiers.py", "hp += hook(state, pokemon)", "hp -= hook(state, pokemon)", "Tools take HP away"),
    Mutation(
        "modifiers.py",
        "cost - colorless_reduction(state, seat, pokemon, attack)",
        "cost",
        "nothing makes attacks cheaper",
    ),
    Mutation("modifiers.py", 'attack.cost.count("C"))', 'attack.cost.count("C") - 1)', "one Colorless always stays"),
    Mutation("modifiers.py", "return max(cost, 0)", "return cost", "a Retreat Cost below 0"),
    Mutation("modifiers.py", "BENCH_LIMIT = 5", "BENCH_LIMIT = 6", "six Pokémon on the Bench"),
    Mutation("modifiers.py", "amount *= 2", "amount *= 3", "Weakness is ×3"),
    Mutation("modifiers.py", "amount -= 30", "amount -= 20", "Resistance is -20"),
    Mutation(
        "modifiers.py", "if target is state.players[blow.target_seat].active:", "if True:", "Weakness on the Bench"
    ),
    Mutation(
        "modifiers.py",
        "benched = player.active is not target",
        "benched = False",
        "attacks damage benched Tera Pokémon",
    ),
    Mutation(
        "modifiers.py",
        "if blow.seat != blow.target_seat and _guarded(target, state.turn):",
        "if False:",
        "Dig stops no damage",
    ),
    Mutation(
        "modifiers.py",
        "    if _guarded(target, state.turn):\n        return True\n    for card in",
        "    for card in",
        "Dig stops no effects",
    ),
    Mutation(
        "modifiers.py",
        "    if effects_prevented(state, blow):\n        return True\n    holders",
        "    holders",
        "Mist Energy lets counters of an attack through",
    ),
    Mutation("modifiers.py", "(*attacker.tools, *attacker.energy)", "attacker.tools", "Energy changes no damage done"),
    Mutation(
        "modifiers.py", "if hook is not None and card not in once:", "if hook is not None:", "two V Guard Energy add up"
    ),
    Mutation(
        "modifiers.py",
        "    if base <= 0:\n        return 0\n",
        "",
        "an attack of 0 damage gets more from modifiers",
    ),
    Mutation("modifiers.py", "if amount <= 0 or damage_prevented", "if damage_prevented", "damage below 0 is told"),
    Mutation("modifiers.py", "if by_attack_damage:", "if True:", "Luxurious Cape costs a Prize on any Knock Out"),
    Mutation("modifiers.py", "        prizes += state.bonus_prizes\n", "", "no Prize more from an attack"),
)

MOVES = (
    Mutation(
        "moves.py",
        "    player.top_known = 0\n    player.bottom = ()\n    state",
        "    state",
        "memory outlives shuffles",
    ),
    Mutation(
        "moves.py",
        "    shuffle(player.deck, state.seed, stream, state.counters[stream])\n",
        "",
        "no deck is shuffled",
    ),
    Mutation(
        "moves.py", "        player.top_known -= 1\n", "        pass\n", "known cards on top do not go with draws"
    ),
    Mutation("moves.py", "        player.prizes_known = True\n", "        pass\n", "an empty deck tells no Prizes"),
    Mutation("moves.py", "    if seen:\n", "    if not seen:\n", "memory of revealed and hidden cards is swapped"),
    Mutation(
        "moves.py",
        "    if card in player.known_hand:\n        player.known_hand.remove(card)\n",
        "",
        "a card is remembered in a hand that it has left",
    ),
    Mutation(
        "moves.py",
        "        player.hand = []\n        player.known_hand = []\n    shuffle",
        "        player.hand = []\n    shuffle",
        "a hand shuffled into the deck stays known",
    ),
    Mutation("moves.py", "player.deck[:0] = cards", "player.deck.extend(cards)", "the bottom is the top"),
    Mutation("moves.py", "    pokemon.conditions = 0\n", "", "Special Conditions follow to the Bench"),
    Mutation("moves.py", "    pokemon.paralyzed_turn = 0\n    pokemon.effects = ()", "", "effects follow to the Bench"),
    Mutation("moves.py", "pokemon.evolved_turn = state.turn", "pokemon.evolved_turn = 0", "evolving does not count"),
    Mutation("moves.py", "clear_effects(old)", "clear_effects(pokemon)", "the wrong Pokémon recovers on a switch"),
    Mutation(
        "moves.py",
        "*pokemon.energy, *pokemon.tools)\n    state.players[seat].discard",
        "*pokemon.energy)\n    state.players[seat].discard",
        "a Knock Out loses the Tool",
    ),
    Mutation("moves.py", "if immune & pokemon.conditions:", "if False:", "Therapeutic Energy does not cure"),
    Mutation("moves.py", "min(amount // 10, pokemon.damage)", "amount // 10", "healing beyond full HP"),
    Mutation(
        "moves.py",
        "modifiers.remaining_hp(state, target) <= 0:",
        "modifiers.remaining_hp(state, target) < 0:",
        "an exact Knock Out is not the attack's",
    ),
    Mutation(
        "moves.py",
        "        pokemon.conditions &= ~(ASLEEP | CONFUSED | PARALYZED)\n",
        "",
        "Asleep and Confused at once",
    ),
    Mutation(
        "moves.py",
        'player.hand.extend(cards)\n    state.log.append(("prizes"',
        'player.discard.extend(cards)\n    state.log.append(("prizes"',
        "Prizes go to the discard pile",
    ),
    Mutation(
        "moves.py",
        "state.players[state.stadium_owner].discard",
        "state.players[state.to_move].discard",
        "a Stadium goes to the wrong discard pile",
    ),
)

OPERATIONS = (
    Mutation(
        "ops.py",
        "player.prizes_known = True\n        # The shuffle",
        "# The shuffle",
        "a search tells nothing of the Prizes",
    ),
    Mutation("ops.py", "top = player.deck[-depth:]", "top = player.deck[:depth]", "a look at the top shows the bottom"),
    Mutation(
        "ops.py",
        "chooser = 1 - frame.seat if by_opponent",
        "chooser = frame.seat if by_opponent",
        "the wrong player chooses for Iron Bundle",
    ),
    Mutation("ops.py", "count - len(state.players[frame.seat].hand)", "count", "draws until without counting the hand"),
    Mutation("ops.py", "frame.seat, card, reveal)", "frame.seat, card, True)", "a hidden search is remembered"),
    Mutation("ops.py", 'frame.picks, "deck", reveal))', 'frame.picks, "deck", True))', "a hidden search is told"),
    Mutation(
        "ops.py",
        'frame.picks, "discard"))\n    moves.shuffle_deck(state, frame.seat)',
        'frame.picks, "discard"))',
        "Super Rod does not shuffle",
    ),
    Mutation("ops.py", ".lost.append(card)", ".discard.append(card)", "the Lost Zone is the discard pile"),
    Mutation(
        "ops.py",
        "for p in player.in_play() if targets is None or targets(state, seat, p)]\n        if not found",
        "for p in player.in_play()]\n        if not found",
        "Energy goes to any Pokémon",
    ),
    Mutation("ops.py", "total = min(count, len(", "total = max(count, len(", "an attack discards all Energy"),
    Mutation(
        "ops.py",
        "tuple(sorted(state.players[frame.seat].hand))",
        "tuple(state.players[frame.seat].hand)",
        "the order of a discarded hand is told",
    ),
    Mutation(
        "ops.py",
        "if not moves.flip(state, frame.seat):\n        stop",
        "if moves.flip(state, frame.seat):\n        stop",
        "heads end the effect",
    ),
    Mutation(
        "ops.py",
        "blow is not None and not modifiers.effects_prevented(state, blow)",
        "blow is not None",
        "nothing prevents effects of attacks",
    ),
    Mutation(
        "conditions.py",
        "len(state.players[seat].hand) > count",
        "len(state.players[seat].hand) >= count",
        "a card is discarded to play itself",
    ),
    Mutation(
        "conditions.py",
        "len(state.players[seat].prizes) > len(",
        "len(state.players[seat].prizes) >= len(",
        "equal Prizes count as behind",
    ),
    Mutation(
        "conditions.py",
        "knocked_out_turn == state.turn - 1",
        "knocked_out_turn >= state.turn - 3",
        "a Knock Out is remembered too long",
    ),
    Mutation("conditions.py", "min(most, modifiers.bench_space(state, frame.seat))", "most", "the Bench overflows"),
    Mutation("conditions.py", "return len(state.players[0].bench) +", "return", "one Bench is not counted"),
    Mutation("ops.py", 'if frame.picks == ("yes",):', 'if frame.picks == ("no",):', '"no" discards the Stadium'),
)

OBSERVATION = (
    Mutation("observation.py", '("draw", "look", "prizes",', '("draw", "prizes",', "cards looked at are told"),
    Mutation("observation.py", '"look", "prizes", "to_top"', '"look", "to_top"', "Prizes taken are told"),
    Mutation(
        "observation.py",
        'if kind == "to_hand" and not event[4]:',
        'if kind == "to_hand" and event[4]:',
        "hidden searches are told, shown ones are not",
    ),
    Mutation("observation.py", "    known.seed = 0\n", "", "the seed is known"),
    Mutation(
        "observation.py", "if player.prizes_known else [UNKNOWN] * len(player.prizes)", "", "own Prizes are known"
    ),
    Mutation(
        "observation.py",
        "player.hand = sorted(player.known_hand) + [UNKNOWN] * (len(player.hand) - len(player.known_hand))",
        "player.hand = sorted(player.hand)",
        "the opponent's hand is known",
    ),
    Mutation("observation.py", "        known.prompt = None\n", "", "the opponent's choice is seen"),
    Mutation("observation.py", "    if face_down:\n", "    if False:\n", "face-down Pokémon in set-up are seen"),
    Mutation(
        "observation.py",
        "_ids(owner if own else opponent)",
        "_ids(opponent if own else owner)",
        "memory of the bottom goes to the wrong seat",
    ),
    Mutation(
        "observation.py",
        "max(state.seen[seat] -",
        "max(state.seen[1 - seat] -",
        "events since the other seat's decision",
    ),
    Mutation("observation.py", "        rest[known.stadium] -= 1\n", "        pass\n", "the Stadium is unseen"),
    Mutation("observation.py", "= when - turn\n", "= turn - when\n", "effects act in the past"),
    Mutation(
        "events.py", "    if seat == event[1]:\n", "    if seat != event[1]:\n", "draws are told to the wrong seat"
    ),
    Mutation(
        "actions.py",
        "missing <= 0 and (not prompt.min",
        "missing < 0 and (not prompt.min",
        "a choice cannot stop at its least number",
    ),
    Mutation("actions.py", "start = picks[-1]", "start = 0", "picks in every order"),
    Mutation(
        "actions.py",
        "prompt.counts[i] - picks.count(i)",
        "prompt.counts[i]",
        "a payment begins that cannot be completed",
    ),
    Mutation("actions.py", "available > 0 and left >= missing and", "available > 0 and", "a choice that cannot end"),
    Mutation("actions.py", "place if side == seat else place + OPPONENT", "place", "both sides' places look alike"),
    Mutation("actions.py", "prompt.picks.count(last) <= 0", "prompt.picks.count(last) < 0", "a choice of nothing left"),
    Mutation("actions.py", "return missing <= 0", "return missing < 0", "exact payments are refused"),
    Mutation(
        "prompts.py", "most = min(cost, len(energy))", "most = len(energy)", "more cards pay than the cost has Energy"
    ),
    Mutation(
        "actions.py",
        "_provided(prompt, picks) >= prompt.minimum_total)",
        "False)",
        "a second Double Turbo has to be discarded too",
    ),
)

DECKS_AND_POSITIONS = (
    Mutation("decks.py", "COPIES = 4", "COPIES = 5", "five copies"),
    Mutation("decks.py", "sum(deck[other] for other in rivals) > 1", "False", "two ACE SPEC cards have no line"),
    Mutation("decks.py", "said != after - before", "said > after - before", "a heading may say too few cards"),
    Mutation("decks.py", "if _plain(name) != _plain(card.name):", "if False:", "a card under another's name"),
    Mutation("decks.py", "    if not basics:\n", "    if False:\n", "a deck without Basic Pokémon"),
    Mutation("decks.py", "    if size != DECK_SIZE:", "    if size > DECK_SIZE:", "a deck of 59"),
    Mutation("position.py", "first = to_move if turn % 2", "first = to_move if not turn % 2", "the wrong first player"),
    Mutation("position.py", "* (size - len(deck)))[::-1]", "* (size - len(deck)))", "decks lie upside down"),
    Mutation(
        "position.py",
        "return state.turn - 1 if last_turn",
        "return state.turn if last_turn",
        "the last turn's Knock Out is not read",
    ),
    Mutation("position.py", "    if damage % 10:\n", "    if False:\n", "damage of 15 is taken for 10"),
    Mutation(
        "position.py",
        "remaining_hp(state, pokemon) <= 0",
        "remaining_hp(state, pokemon) < 0",
        "a Pokémon with 0 HP left at the start",
    ),
    Mutation("position.py", "if len(pokemon.tools) > 1:", "if len(pokemon.tools) > 2:", "two Tools at the start"),
    Mutation("position.py", "_ids(player.prizes[::-1])", "_ids(player.prizes)", "Prizes written upside down"),
    Mutation("position.py", '"evolved_turn": pokemon.evolved_turn', '"evolved_turn": 0', "evolving is forgotten"),
    Mutation(
        "position.py",
        "if len(player.bench) > modifiers.bench_limit(state):",
        "if len(player.bench) > modifiers.BENCH_LIMIT:",
        "Collapsed Stadium with five on the Bench",
    ),
)

CARDS = (
    Mutation("cards/asc.py", ".prizes) == 6", ".prizes) >= 5", "Lillie's Determination draws 8 with 5 Prizes"),
    Mutation("cards/asc.py", 'return "C" in', 'return "C" not in', "the Watchtower takes the others' Abilities"),
    Mutation("cards/asr.py", "ops.choose_own_energy(2)", "ops.choose_own_energy(1)", "Moonlight Shuriken discards 1"),
    Mutation("cards/brs.py", ", ops.choose_new_active, ops.place_new_active", "", "Lumineon V is replaced last"),
    Mutation(
        "cards/paf.py",
        "playable=conditions.deck_left,\n    effect=(ops.discard_hand",
        "effect=(ops.discard_hand",
        "Research for nothing",
    ),
    Mutation(
        "cards/asr.py",
        "player.active is not None and CARDS[player.active.cards[-1]].is_basic and",
        "",
        "Switch Cart for an Active Evolution",
    ),
    Mutation("cards/asr.py", "moves.heal(state, frame.seat, moved, 30)", "None", "Switch Cart heals nothing"),
    Mutation(
        "cards/brs.py",
        "is not state.players[seat].active",
        "is state.players[seat].active",
        "Wave Veil guards the Active Spot",
    ),
    Mutation("cards/brs.py", "player.active is holder and ", "", "Fleet-Footed from the Bench"),
    Mutation("cards/brs.py", "len(player.hand) < 5", "len(player.hand) <= 5", "Industrious Incisors for nothing"),
    Mutation(
        "cards/brs.py",
        "lambda state, blow, holder: -20",
        "lambda state, blow, holder: -10",
        "Double Turbo Energy takes only 10",
    ),
    Mutation(
        "cards/brs.py",
        "on_enter=(_discard_down_to_limit(True), _discard_picked, _discard_down_to_limit(False), _discard_picked)",
        "on_enter=(_discard_down_to_limit(False), _discard_picked, _discard_down_to_limit(True), _discard_picked)",
        "Collapsed Stadium: the opponent discards first",
    ),
    Mutation(
        "cards/brs.py", "ops.deck_to_hand(reveal=True)", "ops.deck_to_hand(reveal=False)", "Luminous Sign shows nothing"
    ),
    Mutation(
        "cards/crz.py",
        "len(state.players[1 - seat].prizes)",
        "len(state.players[seat].prizes)",
        "Excited Heart counts its own player's Prizes",
    ),
    Mutation("cards/crz.py", "ends_turn=True", "ends_turn=False", "Instant Charge does not end the turn"),
    Mutation(
        "cards/crz.py",
        "modifiers.CANNOT_USE_ATTACK, 2,",
        "modifiers.CANNOT_USE_ATTACK, 1,",
        "Combustion Blast every turn",
    ),
    Mutation("cards/crz.py", "owner = state.place(uid)[0]", "owner = frame.seat", "Lost Vacuum takes a Tool over"),
    Mutation("cards/crz.py", "blow.target is holder and ", "", "Carefree Countenance guards the others"),
    Mutation("cards/jtg.py", 'return "P" if "N" in', 'return "P" if "C" in', "Fairy Zone for Colorless Pokémon"),
    Mutation(
        "cards/lor.py",
        "(modifiers.TWO_SLEEP_COINS, moves.FOREVER,",
        "(modifiers.TWO_SLEEP_COINS, state.turn,",
        "Snorlax sleeps deeply for one Checkup",
    ),
    Mutation("cards/lor.py", "ops.draw_until(7)", "ops.draw_until(6)", "Gift Energy draws to 6"),
    Mutation("cards/mew.py", 'and CARDS[holder.cards[-1]].stage_name == "Stage 1" ', "", "Rigid Band for every stage"),
    Mutation("cards/mew.py", 'if attack.name != "Genome Hacking"', "", "Genome Hacking copies itself"),
    Mutation(
        "cards/mew.py",
        'conditions.basic_energy("G"), 1',
        "conditions.basic_energy(), 1",
        "Helpful Slash takes any Energy",
    ),
    Mutation(
        "cards/obf.py", "ops.deck_to_hand(reveal=False)", "ops.deck_to_hand(reveal=True)", "Quick Search shows the card"
    ),
    Mutation(
        "cards/obf.py",
        "    seat = 1 - frame.seat\n",
        "    seat = frame.seat\n",
        "Punishing Scissors counts its own side",
    ),
    Mutation(
        "cards/obf.py",
        "conditions.all_of(conditions.knocked_out_last_turn, conditions.deck_left)",
        "conditions.deck_left",
        "Letter of Encouragement at any time",
    ),
    Mutation(
        "cards/paf.py",
        'conditions.basic_energy("R"), up_to=3',
        'conditions.basic_energy("R"), up_to=2',
        "Infernal Reign finds 2",
    ),
    Mutation("cards/paf.py", "180 + 30 *", "180 + 20 *", "Burning Darkness adds 20"),
    Mutation(
        "cards/paf.py",
        "moves.draw(state, seat, len(state.players[seat].prizes))",
        "moves.draw(state, seat, len(state.players[frame.seat].prizes))",
        "Iono: both draw for the player's Prizes",
    ),
    Mutation("cards/paf.py", "base.entered_turn < state.turn", "base.entered_turn <= state.turn", "Rare Candy at once"),
    Mutation("cards/paf.py", "ops.discard_cards(2)", "ops.discard_cards(1)", "Ultra Ball costs 1 card"),
    Mutation("cards/pal.py", "card.is_basic and not card.rule_box", "card.is_basic", "Artazon fetches ex"),
    Mutation("cards/pal.py", "50 if CARDS[holder.cards[-1]].is_basic else 0", "50", "Bravery Charm on Evolutions"),
    Mutation(
        "cards/pal.py", "        pool.remove(card)\n", "        pass\n", "Superior Energy Retrieval: its own cost"
    ),
    Mutation(
        "cards/pal.py",
        "ASLEEP | CONFUSED | PARALYZED}",
        "ASLEEP | PARALYZED}",
        "Therapeutic Energy lets Confused through",
    ),
    Mutation("cards/pal.py", "state.turn <= 2 and", "state.turn <= 3 and", "Squawk and Seize in turn 3"),
    Mutation(
        "cards/pal.py",
        'ops.choose_top(conditions.a_pokemon, 7, 1, "Choose a Pokémon"),\n        ops.deck_to_hand(reveal=True),\n'
        "        ops.shuffle_deck,",
        'ops.choose_top(conditions.a_pokemon, 7, 1, "Choose a Pokémon"),\n        ops.deck_to_hand(reveal=True),',
        "Great Ball does not shuffle",
    ),
    Mutation("cards/par.py", "                _discard_this,\n", "", "Iron Bundle stays after Hyper Blower"),
    Mutation("cards/par.py", "if not CARDS[target.cards[-1]].is_basic:", "if True:", "Refrigerated Stream on Basics"),
    Mutation(
        "cards/par.py",
        "and CARDS[blow.attacker.cards[-1]].is_basic",
        "and not CARDS[blow.attacker.cards[-1]].is_basic",
        "Stellar Veil lets Basic Pokémon through",
    ),
    Mutation("cards/par.py", "and state.players[frame.seat].active is this ", "", "Coin Bonus draws 2 on the Bench"),
    Mutation(
        "cards/par.py",
        '"extra_prizes": _without_rule_box(1)',
        '"extra_prizes": _without_rule_box(0)',
        "Luxurious Cape costs no Prize",
    ),
    Mutation("cards/par.py", "ops.bonus_prizes(1)", "ops.bonus_prizes(2)", "Amp You Very Much takes 2 more"),
    Mutation(
        "cards/par.py", "for card in found.cards:", "for card in found.cards[-1:]:", "Turo loses the lower stages"
    ),
    Mutation("cards/pgo.py", ' and attacker.name != "Zapdos"', "", "Lightning Symbol for Zapdos"),
    Mutation("cards/pre.py", " and name != _MIDNIGHT_FLUTTERING", "", "Midnight Fluttering silences itself"),
    Mutation(
        "cards/pre.py",
        "is not None and not modifiers.counters_prevented(state, blow)",
        "is not None",
        "nothing keeps Hex Hurl's counters off",
    ),
    Mutation(
        "cards/sfa.py",
        "conditions.all_of(conditions.knocked_out_last_turn, conditions.deck_left)",
        "conditions.deck_left",
        "Flip the Script without a Knock Out",
    ),
    Mutation("cards/sit.py", "ops.if_picked(ops.draw(3))", "ops.draw(3)", "Read the Wind draws without discarding"),
    Mutation(
        "cards/sit.py",
        '"C" in card.types and not card.rule_box',
        '"C" in card.types',
        "Summoning Star fetches Pokémon V",
    ),
    Mutation(
        "cards/sit.py",
        "_SEARCH_EVOLUTION if moves.flip(state, frame.seat) else _SEARCH_BASIC",
        "_SEARCH_BASIC if moves.flip(state, frame.seat) else _SEARCH_EVOLUTION",
        "Capturing Aroma: heads and tails",
    ),
    Mutation("cards/sit.py", '"V" in CARDS[holder.cards[-1]].tags and', "", "Forest Seal Stone on any Pokémon"),
    Mutation("cards/sit.py", 'and "V" in CARDS[blow.attacker.cards[-1]].tags ', "", "V Guard against everybody"),
    Mutation("cards/sve.py", '("SVE-8", "M")', '("SVE-8", "D")', "Metal Energy provides Darkness"),
    Mutation(
        "cards/svi.py",
        "modifiers.remaining_hp(state, pokemon) > 10 *",
        "modifiers.remaining_hp(state, pokemon) >= 10 *",
        "Psychic Embrace Knocks Out",
    ),
    Mutation("cards/svi.py", "return 30 if behind and blow", "return 30 if blow", "Defiance Band at any time"),
    Mutation(
        "cards/svi.py",
        'conditions.basic_energy("L"), 5, 2',
        'conditions.basic_energy("L"), 6, 2',
        "Electric Generator looks at 6",
    ),
    Mutation("cards/svi.py", "modifiers.CANNOT_ATTACK, 2", "modifiers.CANNOT_ATTACK, 1", "Photon Blaster every turn"),
    Mutation("cards/tef.py", "NO_DAMAGE_OR_EFFECTS, 1)", "NO_DAMAGE_OR_EFFECTS, 3)", "Dig guards two turns late"),
    Mutation("cards/tef.py", "card.hp <= 70", "card.hp < 70", "Buddy-Buddy Poffin refuses 70 HP"),
    Mutation("cards/tef.py", "        and player.active is holder\n", "", "Heavy Baton on the Bench"),
    Mutation("cards/tef.py", "modifiers.remaining_hp(state, holder) <= 30", "False", "Rescue Board is 1 less only"),
    Mutation(
        "cards/tef.py",
        "return len(state.players[1 - frame",
        "return len(state.players[frame",
        "Morty's Conviction counts the own Bench",
    ),
    Mutation(
        "cards/tef.py",
        "(*others, *uppermost)",
        "(*uppermost, *others)",
        "Ciphermaniac's Codebreaking: the other on top",
    ),
    Mutation("cards/twm.py", 'return "D" in modifiers.provided(holder) and any', "return any", "Adrena-Brain for free"),
    Mutation("cards/twm.py", "min(_COUNTERS_MOVED, origin.damage)", "origin.damage", "Adrena-Brain moves all"),
    Mutation(
        "cards/twm.py",
        'card.stage_name == "Stage 1"',
        'card.stage_name != "Basic"',
        "Hyper Aroma finds every Evolution",
    ),
    Mutation("cards/wht.py", "modifiers.NO_ITEMS, 1", "modifiers.NO_ITEMS, 2", "Oceanic Gloom locks its own player"),
)

MUTATIONS = (*RULES, *MODIFIERS, *MOVES, *OPERATIONS, *OBSERVATION, *DECKS_AND_POSITIONS, *CARDS)
